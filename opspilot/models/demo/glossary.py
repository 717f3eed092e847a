"""What Chinese words of the trade are called in English, and the words that order or describe an action.

Owns vocabulary only, like `lexicon`; it must not know any system's names, nor any tool's.
"""

from types import MappingProxyType

from opspilot.models.demo.lexicon import listed


def _pairs(table: str) -> MappingProxyType[str, str]:
    found: dict[str, str] = {}
    for entry in table.split(";"):
        chinese, _, english = entry.strip().partition(" ")
        found[chinese] = english
    return MappingProxyType(found)


TRANSLATION = _pairs(
    "失败 failed; 密码 password; 登录 login; 登陆 login; 认证 authentication; 鉴权 authentication; "
    "身份验证 authentication; 超时 timeout; 连接 connection; 拒绝 refused; 断开 disconnected; 关闭 closed; "
    "无效 invalid; 非法 invalid; 用户 user; 请求 request; 响应 response; 返回 returned; 状态码 status; "
    "状态 status; 内存 memory; 磁盘 disk; 硬盘 disk; 空间 space; 网络 network; 重启 restart; 重试 retry; "
    "队列 queue; 延迟 latency; 慢 slow; 丢失 lost; 失去 lost; 没有 no; 缺失 missing; 缺少 missing; "
    "主节点 leader; 领导者 leader; 选主 leader election; 副本 replica; 备份 backup; 恢复 recovery; "
    "证书 certificate; 过期 expired; 权限 permission; 禁止 forbidden; 目录 directory; 索引 index; 文件 file; "
    "文件系统 filesystem; 端口 port; 线程 thread; 进程 process; 实例 instance; 镜像 image; 配置 config; "
    "节点 node; 集群 cluster; 告警 alert; 报警 alert; 警报 alert; 错误 error; 报错 error; 异常 exception; "
    "故障单 incident; 工单 ticket; 未关闭 open; 未解决 open; 已关闭 closed; "
    "故障 failure; 崩溃 crash; 警告 warning; 时钟 clock; 同步 sync; 不同步 not synchronised; 配额 quota; "
    "不足 low; 满 full; "
    "快满 filling up; 耗尽 exhausted; 高 high; 低 low; 流量 traffic; 负载 load; 版本 version; 升级 upgrade; "
    "部署 deployment; 发布 release; 回滚 rollback; 扩容 scale; 容器 container; 数据库 database; 缓存 cache; "
    "消息 message; 会话 session; 入侵 intrusion; 尝试 attempt; 攻击 attack; 断网 network down; 丢包 packet loss; "
    "不可用 unavailable; 不可达 unreachable; 宕机 down; 挂了 down; 启动 start; 停止 stop; 创建 create; "
    "删除 delete; 虚拟机 instance; 缓慢 slow; 服务 service; 服务器 server; 接口 api; 健康 health; "
    "检查 check; "
    "客户端 client; 主机 host; 地址 address; 监控 monitoring; 指标 metric; "
    "采集 scrape; 规则 rule; 评估 evaluation; 存储 storage; 写入 write; 读取 read; 日志 log; 缓解 mitigation; "
    "诊断 diagnosis; 影响 impact; 含义 meaning; 处理 mitigation; 成员 member; 心跳 heartbeat; 掉线 offline; "
    "作业 job; 任务 task; 订单 order; 索赔 claim; 发票 invoice; 付款 payment; 退款 refund; 金额 amount; 价格 price; "
    "费用 cost; 包裹 parcel; 货物 goods; 仓库 warehouse; 积压 backlog; 等待 waiting; 未结 open; 未处理 open; "
    "已结 closed; 已完成 completed; 完成 completed; 成功 succeeded; 取消 cancelled; 耗时 duration; 时长 duration; "
    "运行时间 elapsed time; 大小 size; 数据 data; 日期 date; 小时 hour; 分钟 minute; 排队 queued; 批次 batch; "
    "分区 partition; 组 group; 程序 program; 进度 progress; 上线 rollout; 变更 change; 带宽 bandwidth; "
    "温度 temperature; 电压 voltage; 电池 battery; 传感器 sensor; 车辆 vehicle; 门店 store; 客户 customer; "
    "商品 item; 库存 stock; 账单 bill; 合同 contract; 航班 flight; 病人 patient; 样本 sample; 邮件 mail; 电话 call; "
    "视频 video; 图片 image; 补救 remedy; 停电 outage; 停机 outage; 事故 incident; 供电 supplied; 交易 transaction; "
    "退货 return; 站点 site; "
    "车间 workshop; "
    "工厂 plant; 设备 device; "
    "离线 offline; 在线 online; 泄漏 leak; 泄露 leak; 限流 rate limit; 熔断 circuit breaker; "
    "死锁 deadlock; 锁 lock; 中断 interrupted; 偏移 skew; 时钟偏移 clock skew; 漂移 skew; 丢弃 dropped"
)
"""Chinese words, and what an English log or manual calls the same: content is often English where people are not."""

ACTIONS: MappingProxyType[str, tuple[frozenset[str], tuple[str, ...]]] = MappingProxyType(
    {
        "restart": (listed("restart reboot bounce recycle reload respawn"), ("重启", "重新启动")),
        "delete": (listed("delete remove purge drop erase wipe truncate"), ("删除", "清除", "移除")),
        "scale": (listed("scale resize rescale"), ("扩容", "缩容", "伸缩")),
        "stop": (
            listed("stop shutdown halt kill terminate suspend pause disable cancel abort"),
            ("停止", "停掉", "停用", "下线"),
        ),
        "start": (listed("start launch boot resume enable"), ("启动", "开启", "启用")),
        "deploy": (listed("deploy release rollout promote"), ("部署", "发布", "上线")),
        "rollback": (listed("rollback revert undo"), ("回滚", "回退")),
        "create": (listed("create add open file raise provision"), ("创建", "新建", "新增")),
        "update": (
            listed("update change set edit modify patch rename rotate move assign reassign transfer escalate reroute"),
            ("修改", "更新", "设置", "更改"),
        ),
        "send": (listed("send notify page post publish email dispatch"), ("发送", "通知")),
        "silence": (listed("silence mute acknowledge ack close"), ("静默", "屏蔽")),
        "drain": (
            listed("drain cordon evict isolate quarantine block ban lock"),
            ("隔离", "封禁", "排空", "锁定"),
        ),
        "run": (
            listed("run execute trigger invoke apply write retry rerun resubmit requeue reprocess replay resend"),
            ("执行", "触发", "运行", "重试", "重跑", "重发"),
        ),
    }
)
"""What changes the world: by the first word of a tool's name or description, and as an order in a question."""

VAGUE_ACTIONS = listed("run file open close set lock post page patch move release apply write add block raise change")
"""Words that are as often a thing as a deed: `file_search` reads, and "open tickets" asks."""

DETERMINERS = listed("a an the this that these those all every my our it")
"""After one of these stands a thing: "close the ticket" is an order, "close calls" is not."""

READING = listed(
    "search find get list look lookup read query show check fetch describe count grep view browse inspect scan display "
    "return returns finds searches lists looks reads queries shows gets fetches describes counts retrieve retrieves "
    "status tail history report summarize"
)
READING_CHINESE = ("搜索", "查询", "查找", "检索", "列出", "读取", "获取", "查看", "统计", "返回")

CLOSED_ORDERS_CHINESE = (
    "如何",
    "怎么",
    "怎样",
    "要不要",
    "是否",
    "该不该",
    "为什么",
    "为何",
    "谁",
    "什么时候",
    "有没有",
    "能不能",
)
"""A Chinese sentence with one of these asks about an action instead of ordering it."""
