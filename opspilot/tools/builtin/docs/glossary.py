"""What the same thing is called otherwise: Chinese words of operations in English, and a few English ones. Pure.

Runbooks are often in English where people are not. The words are the trade's; none is any system's own.
"""

import re

_CHINESE = """
丢失 lost no; 失去 lost no; 没有 no missing; 缺失 missing; 缺少 missing; 领导者 leader; 主节点 leader;
选主 leader election; 选举 election; 成员 member; 集群 cluster; 节点 node; 副本 replica; 部署 deployment;
容器 container; 镜像 image; 调度 schedule; 磁盘 disk; 硬盘 disk; 空间 space; 快满 filling up; 满了 full;
不足 low; 内存 memory; 限流 throttling; 节流 throttling; 网络 network; 网卡 network interface;
时钟 clock; 不同步 skew synchronising; 同步 synchronising; 偏移 skew; 漂移 skew; 证书 certificate;
过期 expiration expiry; 到期 expiration; 告警 alert; 报警 alert; 错误 errors; 报错 errors; 失败 failed failing;
超时 timeout; 延迟 latency slow; 缓慢 slow; 变慢 slow; 请求 requests; 响应 response; 连接 connection;
连接池 pool; 数据库 database; 缓存 cache; 队列 queue; 重启 restart; 反复重启 crash looping; 崩溃 crash;
宕机 down; 挂了 down; 不可用 down unavailable; 不可达 unreachable; 未就绪 not ready; 就绪 ready; 配额 quota;
写满 full; 负载 load; 流量 traffic; 采集 scrape; 抓取 scrape; 目标 target; 规则 rule; 存储 storage;
持久卷 persistent volume; 备份 backup; 恢复 recovery; 升级 upgrade; 版本 version; 不一致 mismatch;
配置 config configuration; 重新加载 reload; 通知 notifications; 发送 sending; 心跳 heartbeat; 权限 permission;
登录 login; 密码 password; 用户 user; 服务 service; 接口 api; 日志 log; 守护进程集 daemonset;
有状态 statefulset; 任务 job; 定时任务 cronjob; 阵列 array raid; 降级 degraded; 故障 failure failed
"""
_ENGLISH = """
lost no missing; full filling space; dead down; crashing crashlooping; stuck pending; expired expiration;
clock time skew; slow latency; broken failed
"""


def _table(text: str) -> dict[str, tuple[str, ...]]:
    rows = (entry.split() for entry in text.split(";"))
    return {row[0]: tuple(row[1:]) for row in rows if row}


_TRANSLATED = _table(_CHINESE)
_OTHERWISE = _table(_ENGLISH)
_WORD = re.compile(r"[a-z]+")


def other_words(question: str) -> list[str]:
    """English words for what a question says in Chinese or otherwise, without those that it has itself."""
    own = set(_WORD.findall(question.lower()))
    found: dict[str, None] = {}
    for chinese, english in _TRANSLATED.items():
        if chinese in question:
            found.update(dict.fromkeys(english))
    for word, others in _OTHERWISE.items():
        if word in own:
            found.update(dict.fromkeys(others))
    return [word for word in found if word not in own]
