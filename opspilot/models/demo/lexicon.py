"""Words of operations in general, in English and Chinese, and the ideas they stand for.

Owns vocabulary only. It must not know the name, fault, file or number of any system, nor the name of any tool.
"""

from enum import StrEnum
from types import MappingProxyType


class Idea(StrEnum):
    """What a word is about, whatever the language."""

    LOGS = "logs"
    ERRORS = "errors"
    DOCS = "docs"
    ADVICE = "advice"
    CATALOG = "catalog"
    OWNER = "owner"
    DEPENDS = "depends"
    SERVICE = "service"
    HOST = "host"
    USER = "user"
    MOST = "most"
    COUNT = "count"
    RECENT = "recent"
    COMPARE = "compare"
    ALERT = "alert"
    EXTREME = "extreme"


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())


ENGLISH: MappingProxyType[Idea, frozenset[str]] = MappingProxyType(
    {
        Idea.LOGS: listed(
            "log logs logged logging logfile logfiles syslog event events journal journals trace traces lines "
            "entry entries grep stderr logbook"
        ),
        Idea.ERRORS: listed(
            "error errors failure failures fault faults problem problems exception exceptions trouble troubles "
            "issue issues crash crashes breakdown breakdowns malfunction malfunctions"
        ),
        Idea.DOCS: listed(
            "doc docs document documents documentation runbook runbooks playbook playbooks guide guides guideline "
            "guidelines handbook handbooks manual manuals wiki kb knowledge base article articles procedure procedures "
            "policy policies protocol protocols checklist checklists cookbook howto passage passages faq "
            "readme instruction instructions sop sops"
        ),
        Idea.ADVICE: listed(
            "advice advise advises recommend recommends recommended recommendation recommendations handle handling "
            "mitigate mitigation remedy remedies remediation resolve resolution fix fixes fixing solve solution "
            "solutions troubleshoot troubleshooting workaround workarounds respond response repair mean means meaning "
            "diagnose diagnosis cause causes suggest suggests suggested suggestion suggestions"
        ),
        Idea.CATALOG: listed(
            "catalog catalogue inventory registry register directory cmdb asset assets resource resources entity "
            "entities component components equipment fleet master"
        ),
        Idea.OWNER: listed(
            "owner owners own owns owned ownership maintainer maintainers maintain maintains maintained "
            "responsible team "
            "teams contact contacts oncall on-call charge "
            "crew crews squad squads steward custodian operate operates operated operator operators"
        ),
        Idea.DEPENDS: listed(
            "depend depends depended dependent dependents dependency dependencies relies rely consumes "
            "upstream upstreams"
        ),
        Idea.SERVICE: listed(
            "service services app apps application applications api apis microservice microservices system systems "
            "server servers database databases db cluster clusters component components module modules job jobs "
            "daemon daemons process worker workers unit device node pod "
            "deployment namespace instance station machine"
        ),
        Idea.HOST: listed(
            "host hosts hostname hostnames ip ips address addresses addr client clients source sources machine "
            "machines origin origins peer peers remote rhost"
        ),
        Idea.USER: listed("user users username usernames account accounts"),
        Idea.MOST: listed(
            "most top frequent frequently often commonest common highest largest biggest mostly busiest worst "
            "noisiest rank ranking"
        ),
        Idea.COUNT: listed(
            "count counts counted counting number numbers many times total totals tally occurrences frequency "
            "frequencies statistics"
        ),
        Idea.RECENT: listed("recent recently latest lately newest last current currently now"),
        Idea.COMPARE: listed("compare compares comparison against match matches matching cross-check versus"),
        Idea.ALERT: listed("alert alerts alarm alarms"),
        Idea.EXTREME: listed(
            "slowest fastest quickest longest shortest smallest lowest heaviest costliest cheapest priciest "
            "newest oldest earliest greatest fullest peak"
        ),
    }
)

CHINESE: MappingProxyType[Idea, tuple[str, ...]] = MappingProxyType(
    {
        Idea.LOGS: ("日志", "事件", "记录", "日志行", "流水", "行日志", "行数"),
        Idea.ERRORS: (
            "报错",
            "错误",
            "异常",
            "故障",
            "出错",
            "失败情况",
            "问题",
            "毛病",
            "崩溃",
            "报错信息",
            "错误信息",
            "出问题",
        ),
        Idea.DOCS: (
            "文档",
            "手册",
            "运行手册",
            "操作手册",
            "运维手册",
            "知识库",
            "指南",
            "预案",
            "说明书",
            "规程",
            "规范",
            "资料",
            "维基",
            "制度",
            "规定",
            "文章",
        ),
        Idea.ADVICE: (
            "处理建议",
            "建议",
            "处理",
            "怎么办",
            "怎么处理",
            "如何处理",
            "如何解决",
            "怎么解决",
            "该怎么做",
            "解决办法",
            "解决方案",
            "处置",
            "应对",
            "排查",
            "修复",
            "怎么做",
            "缓解",
            "措施",
            "表示",
            "意味着",
            "含义",
            "什么意思",
            "怎么修",
            "如何应对",
            "处理方法",
            "处理办法",
            "原因",
            "说明",
        ),
        Idea.CATALOG: ("服务目录", "目录", "资产", "资源", "清单", "台账", "组件", "设备", "登记"),
        Idea.OWNER: (
            "负责人",
            "负责",
            "归谁",
            "谁管",
            "谁维护",
            "维护者",
            "归属",
            "所有者",
            "哪个团队",
            "团队",
            "属于谁",
            "主人",
            "联系人",
            "值班",
            "拥有",
            "谁的",
        ),
        Idea.DEPENDS: ("依赖", "上游", "下游", "依赖于", "依赖关系"),
        Idea.SERVICE: (
            "服务",
            "应用",
            "系统",
            "模块",
            "接口",
            "数据库",
            "集群",
            "服务器",
            "中间件",
            "平台",
            "组件",
            "任务",
        ),
        Idea.HOST: ("主机", "机器", "地址", "来源", "客户端", "源地址", "节点", "源主机", "IP地址"),
        Idea.USER: ("用户", "用户名", "账号", "帐号", "账户"),
        Idea.MOST: (
            "最多",
            "最频繁",
            "最常见",
            "最经常",
            "最高",
            "最常",
            "最大",
            "排名",
            "前几",
            "频率最高",
            "次数最多",
        ),
        Idea.COUNT: ("次数", "数量", "多少次", "多少", "几次", "计数", "统计", "总数", "各多少", "几条", "个数"),
        Idea.RECENT: ("最近", "近期", "最新", "目前", "当前", "近来", "这几天", "刚才", "刚刚"),
        Idea.COMPARE: ("对照", "对比", "比较", "比对", "对一下", "核对"),
        Idea.ALERT: ("告警", "警报", "报警", "预警"),
        Idea.EXTREME: (
            "最慢",
            "最快",
            "最长",
            "最短",
            "最小",
            "最低",
            "最久",
            "最早",
            "最旧",
            "最贵",
            "最便宜",
            "耗时最长",
            "最近一次",
            "最后一次",
            "上一次",
        ),
    }
)

STOP_ENGLISH = listed(
    "a an the this that these those it its they them their there here i me my we us our you your he she his her who "
    "whom whose what which when where why how is are was were be been being am do does did done doing have has had "
    "having will would shall should can could may might must and or but nor not no if then than so as at by for from "
    "in into of off on onto out over to up with within without about after before during between through per via each "
    "every any all some both either also just only very too more much such same other another please tell show give "
    "find look see check search list get let lets want need know say says said happen happens happened happening any "
    "anything something everything there's what's who's kindly help explain describe summarise summarize report "
    "question answer beside alongside along according regarding concerning based using use side next together first "
    "currently main think go went come came way kind type sort thing things lot ones one exactly really actually ok "
    "okay hello hi hey thanks thank appear appears appeared occur occurs occurred show shows shown contain contains "
    "written write wrote asked ask like able make makes made take takes took put full whole against "
    "raised reported recorded occurred fired affected affects tried tries used attempted seen came logged "
    "writes happens "
    "did's begin began begun begins start started starts wrong happening reported reports instead rather sorry"
)

STOP_CHINESE = (
    "你好",
    "您好",
    "谢谢",
    "是多少",
    "看看",
    "看一下",
    "看下",
    "查看",
    "查一下",
    "查查",
    "查询",
    "查找",
    "顺便",
    "一下",
    "里的",
    "里面",
    "里头",
    "中的",
    "请问",
    "请",
    "帮我",
    "帮忙",
    "麻烦",
    "给我",
    "告诉我",
    "什么",
    "哪些",
    "哪个",
    "哪一个",
    "哪台",
    "哪几个",
    "哪种",
    "哪条",
    "哪位",
    "哪里",
    "谁",
    "怎么",
    "怎样",
    "如何",
    "为什么",
    "是否",
    "有没有",
    "以及",
    "并且",
    "并",
    "还有",
    "另外",
    "同时",
    "应该",
    "该",
    "需要",
    "可以",
    "能否",
    "能不能",
    "我",
    "我们",
    "你",
    "它",
    "他们",
    "它们",
    "这个",
    "那个",
    "这些",
    "那些",
    "这",
    "那",
    "的",
    "了",
    "吗",
    "呢",
    "吧",
    "啊",
    "是",
    "和",
    "与",
    "或",
    "里",
    "中",
    "上",
    "都",
    "也",
    "被",
    "把",
    "有",
    "从",
    "会",
    "出现",
    "发生",
    "来自",
    "进行",
    "分别",
    "各自",
    "一共",
    "总共",
    "最",
    "相关",
    "关于",
    "根据",
    "按照",
    "按",
    "在",
    "到",
    "对",
    "就",
    "再",
    "先",
    "然后",
    "时候",
    "时",
    "吗？",
    "一次",
    "一条",
    "一个",
    "条",
    "个",
    "次",
    "说了",
    "说",
    "写",
    "笔",
    "发生了",
    "之间",
    "几点",
    "何时",
    "什么时候",
    "开始",
    "更多",
    "更少",
    "列出",
    "三个",
    "由",
    "占用",
    "哪一单",
    "单",
    "第一次",
    "首次",
    "不是",
    "为什么",
    "使用",
    "用了",
    "要",
    "做",
    "去",
    "给",
    "让",
    "用",
)
