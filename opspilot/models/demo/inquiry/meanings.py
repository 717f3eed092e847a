"""Words of operations for questions about data: what Chinese ones are called in English, and which words are kin.

Owns vocabulary only. It must not know the name, fault or number of any system, nor the name of any tool.
"""

from types import MappingProxyType

from opspilot.models.demo.glossary import TRANSLATION
from opspilot.models.demo.lexicon import listed
from opspilot.models.demo.words import stem


def _pairs(table: str) -> dict[str, str]:
    entries = (entry.strip().partition(" ") for entry in table.split(";"))
    return {chinese: english for chinese, _, english in entries}


MEANINGS: MappingProxyType[str, str] = MappingProxyType(
    {
        **TRANSLATION,
        **_pairs(
            "联系 contact; 最低库存 minimum min stock; 不合格 fail failed rejected; 化验 lab test check; 度电 kwh "
            "energy; 电量 "
            "energy kwh charge; 机位 stand position; 停运 suspended out service; 认领 acknowledge acknowledged claimed "
            "assigned; 虚拟机 virtual machine vm instance; 许可 licence license permit; 许可证 licence license; "
            "补货 reorder "
            "restock replenish; 补货点 reorder point; 现货 on hand stock; 个人信息 personal data; 个人 personal; 信息 "
            "information data; 会员等级 tier level loyalty; 席位 seat; 全量 full; 增量 incremental; 贵 expensive; "
            "加起来 total "
            "sum; 工单 ticket issue order; 备件 spare part; 配件 part spare; 零件 part; 进行中 progress running; "
            "正在进行 progress running; 正在进行中 progress running; 班组 crew team; 班次 shift trip; 风机 fan "
            "turbine; 消费组 consumer group; 发电 power output; 输出 output print; 放 location stored; 存放 "
            "location stored; 重启 restart; 重启次数 restart count; 命名空间 namespace; 镜像 image; 节点 node; "
            "主机 host; 主机名 hostname; 机器 machine host instance; 服务器 server host; 实例 instance; 容器 "
            "container; 副本 "
            "replica; 副本数 replicas; 就绪 ready; 待处理 pending "
            "open; 等待 waiting pending; 挂起 pending suspended; 运行中 running; 正在运行 running; 运行 running "
            "run; 已停止 stopped; 停止 stopped; 停机 stopped down; 在线 online up; 离线 offline down; 正常 "
            "healthy ok normal; 健康 healthy health; 不健康 unhealthy; 异常 exception abnormal unhealthy error; "
            "失败 failed failure failing; 失败率 failure rate; 错误 error; 错误率 error rate; 报错 error; "
            "报了什么错 error; 成功 success succeeded; 成功率 success rate; 取消 canceled cancelled; 已取消 "
            "canceled; 超时 timeout timed; 启用 enabled on active; 禁用 disabled off; 活跃 active; 空闲 idle "
            "free; 可用 available; 不可用 unavailable; 已解决 resolved; 未解决 unresolved open; 解决 resolve "
            "resolved; 关闭 closed close; 已关闭 closed; 打开 open opened; 未关闭 open; 确认 acknowledged "
            "acknowledge ack confirmed; 已确认 acknowledged; 触发 fire firing triggered trigger; 告警 alert "
            "alarm warning; 警告 warning; 报警 alert alarm; 严重 critical severe; 级别 level severity; 严重程度 "
            "severity; 严重级别 severity; 优先级 priority; 紧急 urgent urgency; 紧急度 urgency; 紧急程度 "
            "urgency; 高 high; 中等 medium; 低 low; 最高优先级 highest priority; 值班 oncall on-call call duty; "
            "轮值 oncall rotation; 值班人 oncall; 负责人 owner lead responsible; 负责 owner owns responsible; "
            "团队 team group squad; 小组 team group; 部门 department; 组 group; 作者 author; 创建者 creator "
            "author by; 提交者 committer author; 提交 commit submit submitted; 经办人 assignee assigned; 处理人 "
            "assignee; 指派 assigned assignee; 分配 assigned assignee allocated; 分派 assigned assignee; 联系人 "
            "contact; 联系方式 contact; 电话 phone; 邮箱 mailbox email; 邮件 mail email; 频道 channel; 渠道 "
            "channel; 根本原因 root cause; 根因 root cause; 原因 reason cause; 理由 reason; 状态 status state; "
            "阶段 stage phase; 进度 progress; 版本 version; 版本号 version; 发布 release deploy rollout; 部署 "
            "deploy deployed deployment; 上线 deploy deployed release rollout; 回滚 rollback rolled; 升级 "
            "upgrade escalation; 流水线 pipeline; 构建 build; 任务 job task; 作业 job; 步骤 step stage; 测试 "
            "test; 用例 case test; 分支 branch ref; 标签 tag label; 项目 project; 仓库 repository repo "
            "warehouse; 代码库 repository; 环境 environment env; 生产 production prod; 生产环境 production prod "
            "environment; 预发 staging; 测试环境 test environment; 开发环境 development dev environment; 费用 "
            "cost charge; 成本 cost; 花费 cost spend; 花了多少钱 cost; 多少钱 cost price amount; 花 cost spend; "
            "账单 bill invoice; 金额 amount; 价格 price; 预算 budget; 单价 price; 类型 type kind; 种类 kind "
            "type; 规格 type size spec flavor; 型号 model type; 区域 region area; 地域 region; 可用区 zone; "
            "机房 datacenter site; 位置 location; 地点 location place site; 城市 city; 国家 country; 峰值 peak "
            "max; 最大值 max; 最小值 min; 平均 mean average avg; 平均值 mean average avg; 总共 total; 总数 "
            "total count; 总计 total; 合计 total sum; 总和 sum total; 总费用 total cost; 使用率 utilization "
            "usage used percent; 利用率 utilization usage; 使用量 usage used; 用量 usage used; 占用 used usage; "
            "已用 used; 剩余 remaining free left; 空闲空间 free space; 容量 capacity size; 内存 memory ram; "
            "磁盘 disk storage; 硬盘 disk; 存储 storage; 网络 network; 带宽 bandwidth; 流量 traffic; 负载 load; "
            "处理器 cpu; 核 core cpu; 核数 cores cpu; 线程 thread; 进程 process; 连接 connection; 连接数 "
            "connections; 会话 session; 请求 request; 请求数 requests count; 响应 response; 响应时间 response "
            "time latency; 延迟 latency lag delay; 滞后 lag behind; 落后 lag behind; 吞吐 throughput; 速率 "
            "rate; 频率 frequency rate; 耗时 duration elapsed took; 时长 duration; 持续 duration lasted; "
            "持续时间 duration; 运行时间 duration elapsed runtime; 用时 duration took; 解决时间 resolve time "
            "duration; 时间 time; 日期 date; 创建 created create; 创建时间 created; 更新 updated update; "
            "更新时间 updated; 修改 modified changed update; 变更 change changed; 启动 started start launched "
            "launch; 启动时间 started launched; 开始 started start began; 结束 ended finished end; 完成 "
            "completed finished done; 加入 joined join added; 添加 added; 过期 expire expired expires expiry; "
            "到期 expire expires expiry; 有效期 validity expires; 证书 certificate cert; 域名 domain; 剩余天数 "
            "days left; 天 day; 小时 hour; 分钟 minute; 秒 second; 表 table; 行 row; 行数 rows; 索引 index; 库 "
            "database; 数据库 database db; 集群 cluster; 分片 shard; 主库 primary master; 从库 replica standby; "
            "主节点 primary leader; 锁 lock; 慢查询 slow query; 语句 statement query sql; 调用 call calls; "
            "调用次数 calls; 次数 count times; 队列 queue; 主题 topic; 消费者 consumer; 积压 backlog lag depth; "
            "消息 message; 消息数 messages; 分区 partition zone; 缓存 cache; 命中率 hit rate ratio; 备份 "
            "backup; 快照 snapshot; 恢复 resolved recover restore recovery; 端口 port; 地址 address ip; 网段 "
            "subnet network; 防火墙 firewall; 规则 rule; 策略 policy; 负载均衡 load balancer; 交换机 switch; "
            "路由器 router; 接口 interface api endpoint; 设备 device equipment asset; 传感器 sensor; 温度 "
            "temperature; 湿度 humidity; 电压 voltage; 功率 power; 电量 battery energy; 电池 battery; 信号 "
            "signal; 固件 firmware; 用户 user; 账号 account user; 账户 account; 客户 customer client; 租户 "
            "tenant; 员工 employee staff; 人 person; 权限 permission role; 角色 role; 登录 login; 订单 order; "
            "事件 event incident; 事故 incident; 故障 incident fault failure outage; 故障单 incident; 问题 "
            "problem issue; 日志 log; 记录 record log logged entry; 服务 service; 应用 application app; 组件 "
            "component; 模块 module; 产品 product; 商品 product item; 名称 name; 名字 name; 标题 title; 描述 "
            "description; 备注 note comment; 大小 size; 体积 size; 数量 count number; 编号 id number; 指标 "
            "metric; 阈值 threshold; 目标 target objective; 配额 quota limit; 上限 limit max; 限制 limit; 配置 "
            "config setting; 参数 parameter setting; 依赖 depends dependency; 上游 upstream; 下游 downstream; "
            "云服务 cloud service; 车辆 vehicle; 司机 driver; 航班 flight departure; 门店 store; 站点 site "
            "station; 楼层 floor; 房间 room; 床位 bed; 病人 patient; 货物 goods cargo; 库存 stock inventory; "
            "供应商 supplier vendor; 合同 contract; 发票 invoice; 付款 payment; 退款 refund; 交易 transaction; "
            "线路 line route circuit; 路线 route; 重量 weight; 距离 distance; 速度 speed; 里程 mileage "
            "odometer; 评分 score rating; 排名 rank; 比例 ratio percent; 百分比 percent; 覆盖率 coverage; 漏洞 "
            "vulnerability; 补丁 patch; 扫描 scan; 密钥 key secret; 令牌 token; 下次 next; 下一个 next; 接班 "
            "next; 上一个 previous; 期间 during; 维护 maintenance maintain; 维护窗口 maintenance window; 计划 "
            "plan planned schedule; 排班 schedule rotation; 审批 approval approved; 批准 approved approval; "
            "起不来 start starting failed; 启动不了 start failed; 挂了 down failed; 崩溃 crash crashed; 卡住 "
            "stuck jam jammed; 跑 run running; 用 used use; 教训 lesson learned; 经验 lesson learned; 复盘 "
            "postmortem review; 学到 learned lesson; 拉取 pull; 调度 scheduled schedule; 平均耗时 mean avg "
            "duration; 不稳定 flaky unstable; 丢包 packet loss; 丢包率 loss; 抖动 jitter; 重试 retry retries; "
            "死信 dead letter; 消费 spend consume; 生产者 producer; 打印 print; 打印机 printer; 摄像头 camera; "
            "水位 level; 压力 pressure; 流速 flow; 泵 pump; 阀门 valve; 电梯 elevator lift; 列车 train; 站 "
            "station; 票 ticket; 座位 seat; 课程 course; 学生 student; 教师 teacher; 借 borrow loan lend; 借用 "
            "borrow loan; 借出 lent loan; 借走 borrow loan; 归还 return returned; 维修 repair repairing; 修理 "
            "repair; 检修 maintenance inspection; 检查 check inspect inspection; 巡检 inspection; 热线 hotline "
            "phone; 热线电话 hotline phone; 年费 yearly fee; 月费 monthly fee; 造成 cause caused; 导致 cause "
            "caused; 引起 cause caused; 断网 outage network down; 中断 outage interrupted; 停电 outage power; "
            "实施 implement implementer; 执行 execute run; 安排 schedule scheduled planned; 计划于 scheduled "
            "planned; 已批准 approved; 待审批 pending approval; 草稿 draft; 已实施 implemented; 管理地址 "
            "management address ip; 固件版本 firmware version; 健康度 health; 健康状态 health status; 运行天数 "
            "uptime days; 在线时间 uptime; 开机时间 uptime; 链路 link; 网卡 interface nic; 网关 gateway; 往返 "
            "round trip; 时延 latency delay; 写 write; 报 report error; 打出 log print; 病房 ward; 科室 ward "
            "department; 资产 asset; 序列号 serial number; 供货商 supplier; 厂商 vendor manufacturer; 制造商 "
            "manufacturer vendor; 品牌 brand vendor; 保修 warranty; 许可证 license licence; 授权 license "
            "authorization; 租约 lease; 工程师 engineer; 技术员 technician; 值班员 oncall operator; 操作员 "
            "operator; 管理员 admin administrator; 客服 support agent; 评审 review; 审核 review audit; 审计 "
            "audit; 合并 merge merged; 合并请求 merge request; 拉取请求 pull request; 评论 comment; 提交次数 "
            "commits; 缺陷 defect bug; 严重性 severity; 修复 fix fixed; 修复版本 fix version; 受影响 affected; "
            "影响 affect affected impact users; 开关 switch flag; 功能开关 feature flag; 实验 experiment; 灰度 "
            "rollout canary; 扩容 scale; 缩容 scale; 弹性 autoscale; 冷启动 cold start; 函数 function; 触发器 "
            "trigger; 定时任务 cron scheduled job; 调度任务 scheduled job; 下次运行 next run; 上次运行 last "
            "run; 运行次数 runs; 失败次数 failures failed count; 错误次数 errors count; 重试次数 retries; "
            "请求量 requests; 访问量 visits requests traffic; 点击 click; 转化率 conversion rate; 库存量 stock "
            "quantity; 缺货 out of stock; 发货 ship shipped shipment; 物流 shipment logistics; 到货 arrive "
            "arrival; 到达 arrive arrival; 出发 depart departure; 延误 delay delayed; 晚点 delayed delay; 准点 "
            "on-time; 登机口 gate; 跑道 runway; 机组 crew; 机长 captain pilot; 机型 aircraft type model; 乘客 "
            "passenger; 行李 baggage; 车站 station; 站台 platform; 车次 train; 车牌 plate; 油耗 fuel "
            "consumption; 电耗 power consumption; 能耗 energy consumption; 用电 power consumption; 用水 water "
            "consumption; 产量 output yield production; 良率 yield; 废品 scrap; 机床 machine; 产线 line; 生产线 "
            "line production; 班 shift; 配方 recipe; 批号 lot batch; 样品 sample; 检测 test detection; 结果 "
            "result; 浓度 concentration; 酸碱度 ph; 含量 content; 直播 stream live; 观看 view watch viewers; "
            "时段 slot period; 节目 program show; 房源 listing; 入住 check-in stay; 预订 booking reservation; "
            "预约 appointment booking; 会员 member; 积分 points; 余额 balance; 欠费 overdue debt; 逾期 overdue; "
            "利率 rate interest; 汇率 rate exchange; 税 tax; 折扣 discount; 毛利 margin profit; 利润 profit; "
            "销售额 sales revenue; 收入 revenue income; 营收 revenue; 支出 spend expense; 额度 quota limit; "
            "岗位 position role; 请假 leave; 考勤 attendance; 薪资 salary; 入职 hire joined; 离职 left; 学院 "
            "faculty; 班级 class; 成绩 grade score; 分数 score; 回收 reclaim recycle; 清理 cleanup; 碎片 "
            "fragmentation; 膨胀 bloat; 死锁 deadlock; 阻塞 block blocked blocking; 等待时间 wait time; 命中 "
            "hit hits; 淘汰 evicted eviction; 主从 replication; 同步 sync replication; 复制 replication; 只读 "
            "read-only replica; 事务 transaction; 会话数 sessions; 活跃连接 active connections; 最大连接 max "
            "connections; 全表扫描 full scan; 执行计划 plan; 执行时间 execution time duration; 平均时间 mean "
            "time; 风扇 fan; 电源 power supply psu; 机柜 rack cabinet; 机架 rack; 裸金属 bare metal; 宿主机 "
            "host hypervisor; 镜像仓库 registry; 仓库名 repository; 标签页 tab; 入口 ingress entry; 出口 egress "
            "exit; 网格 mesh; 灾备 disaster recovery; 演练 drill exercise; 目标值 target objective; 达标 met "
            "objective; 可用性 availability; 错误预算 error budget; 燃尽 burn; 静默 silence silenced muted; "
            "通知 notification; 升级策略 escalation policy; 响应人 responder; 首次响应 first response; 处理时长 "
            "resolution time duration; 关闭时间 closed; 建单 created; 提单人 reporter requester; 报告人 "
            "reporter; 申请人 requester applicant; 审批人 approver; 指派给 assignee assigned; 目的地 "
            "destination; 出发地 origin; 始发地 origin; 航线 route; 飞往 destination to; 开往 destination to; "
            "前往 destination to; 航班号 flight; 卡住次数 jams; 卡死 stuck; 行李带 baggage belt; 传送带 belt "
            "conveyor; 带班 lead shift; 电话号码 phone number; 联系电话 phone contact; 停用 disabled off out "
            "service inactive; 开启 "
            "enabled on open; 开放 open rollout rolled; 百分之多少 percent; 比率 rate ratio; 名下 assigned "
            "owned assignee; 评论数 comments; 里程碑 milestone; 特性开关 feature flag; 关停 stopped closed; "
            "受影响用户 affected users; 发布经理 release manager; 名额 seat quota; 人数 people number count; "
            "票数 tickets votes; 楼 building; 教室 classroom room; 图书 book; 书 book; 读者 reader; 借阅 loan "
            "borrowed; 菜品 dish; 餐厅 restaurant; 桌 table; 厨房 kitchen; 骑手 courier rider; 快递员 courier; "
            "配送 delivery; 快递 parcel courier; 运单 waybill shipment; 收件人 recipient; 发件人 sender; 签收 "
            "delivered signed; 货架 shelf; 库位 bin location; 托盘 pallet; 叉车 forklift; 集装箱 container; 船 "
            "vessel ship; 船舶 vessel ship; 港口 port harbour; 泊位 berth; 码头 dock pier; 水库 reservoir; 水泵 "
            "pump; 管道 pipe pipeline; 变压器 transformer; 变电站 substation; 电表 meter; 电流 current; 光伏 "
            "solar; 逆变器 inverter; 充电桩 charger charging; 充电 charging charge; 油箱 tank; 锅炉 boiler; "
            "压缩机 compressor; 轴承 bearing; 振动 vibration; 转速 speed rpm; 噪声 noise; 亮度 brightness; 气压 "
            "pressure; 风速 wind speed; 降雨 rain rainfall; 雨量 rainfall; 天气 weather; 预报 forecast; 玩家 "
            "player; 对局 match game; 比赛 match game; 球队 team; 服 server; 大区 region; 公会 guild; 道具 "
            "item; 充值 payment recharge; 登录数 logins; 在线人数 online players users; 掉线 disconnect "
            "offline; 延时 latency; 帧率 fps frame; 模型 model; 训练 training train; 数据集 dataset; 显卡 gpu; "
            "显存 gpu memory; 排队 queued waiting; 作业数 jobs; 推理 inference; 准确率 accuracy; 损失 loss; "
            "轮次 epoch; 商户 merchant; 商家 merchant; 结算 settlement; 打款 payout; 转账 transfer; 提现 "
            "withdrawal; 支付 payment; 渠道 channel; 欺诈 fraud; 争议 dispute; 拒付 chargeback; 对账 "
            "reconciliation; 账户 account; 承运商 carrier; 供应商 supplier; 准时率 on-time rate; 准时 on-time; 准点率 "
            "on-time rate; 海关 customs; 清关 customs; 扣留 hold held; 票货 shipment; 一票货 shipment; 供货 "
            "supply supplied; 货 shipment goods; 货物 goods shipment "
            "cargo; 货运 freight; 司机 driver; 车队 fleet; 里程 mileage; 代码 code; 错误码 error code; 举报 report "
            "reported; 投诉 complaint; 满意度 satisfaction; 大厅 lobby; 排位赛 ranked; 冷链 cold chain; 超标 "
            "exceeds exceeded; 重量 weight; 原因 reason cause; 酒店 hotel; 客房 room; 房间 room; 护士 nurse; 医生 "
            "doctor; 药品 drug medicine; 床位 bed; 剂量 dose; 检验 test inspection; 物料 material; 机器人 robot; "
            "湿度 humidity; 温室 greenhouse; 灌溉 irrigation; 电网 grid; 馈线 feeder; 线路 line circuit; 抢修 "
            "repair crew; 保养 maintenance service; 召回 recall; 租户 tenant; 基站 site cell station; 光缆 "
            "fibre fiber; 信号 signal; 短信 sms; 套餐 plan; 通话 call; 理赔 claim; 保单 policy; 派单 dispatch; 店铺 "
            "shop store; 门店 store shop; 卖家 seller; 买家 buyer; 优惠券 coupon voucher; 促销 promotion; 地铁 "
            "metro; 道路 road; 信号灯 signal light; 闸机 gate; 矿井 mine; 钻机 drill rig; 井 well; 阀 valve; 当班 "
            "duty shift call; 未结案 open; 结案 closed; 受理 accepted; 派遣 dispatched; 出动 dispatched; 抵达 "
            "arrive arrived; 学习率 learning rate; 标注 annotation label; 爬虫 crawler; 网页 page; 页面 page; 跳转 "
            "redirect; 域 domain; 收件箱 inbox; 垃圾邮件 spam; 退信 bounce; 投递 delivery delivered; 发送 send "
            "sent; 接收 receive received; 附件 attachment; 违规 violation; 合规 compliance compliant; 风险 "
            "risk; 攻击 attack; 封禁 ban banned block blocked; 拦截 block blocked; 允许 allow allowed; 拒绝 "
            "deny denied declined refused rejected; 规则数 rules; 命中次数 hits; 证据 evidence; 调查 investigation; "
            "责任人 owner responsible; 截止 deadline due; 截止日期 deadline due date; 到期日 due date expiry; "
            "提前 early ahead; 剩 left remaining; 还剩 left remaining; 多出 extra; 缺 missing short; 缺少 "
            "missing; 短缺 shortage; 笔记本 laptop notebook; 笔记本电脑 laptop notebook; 电脑 computer laptop; "
            "台式机 desktop; 手机 phone mobile; 平板 tablet; 显示器 monitor display; 耳机 headset; 键盘 "
            "keyboard; 鼠标 mouse; 会议室 meeting room; 席位 seat; 续期 renew renewal; 续费 renew renewal; 续约 "
            "renew renewal; 加密 encrypted encryption; 达到 met meet reach; 达成 met meet; 满足 met meet "
            "satisfy; 未达标 met; 购买 bought purchase; 购入 bought purchase; 采购 purchase procurement; 共享 "
            "share shared; 共享盘 share; 文件夹 folder; 目录 directory folder; 文件 file; 工位 desk seat; "
            "办公室 office; 办公点 office; 分公司 branch office; 正在触发 firing; 指纹 fingerprint; 标识 id "
            "identifier; 评级 grade rating; 等级 level grade tier; 层级 tier level; 新旧 age; 年限 age years; "
            "寿命 life lifetime; 使用者 user; 使用人 user; 所有人 owner; 拥有者 owner; 管理人 manager; 上级 "
            "manager; 经理 manager; 主管 lead manager supervisor; 成员 member; 人员 staff member; 名单 list "
            "roster; 轮班 shift rotation; 夜班 night shift; 早班 morning shift; 批次 batch; 进程数 processes; "
            "线程数 threads; 核心 core; 插槽 slot; 磁带 tape; 阵列 array raid; 卷 volume; 挂载 mount mounted; "
            "存储桶 bucket; 对象 object; 桶 bucket; 函数调用 invocations; 并发 concurrency concurrent; 并发数 "
            "concurrency; 队列长度 queue length depth; 深度 depth; 长度 length; 宽度 width; 高度 height; 面积 "
            "area; 数量级 magnitude; 吞吐量 throughput; 错误数 errors count; 丢弃数 dropped; 重启时间 "
            "restarted; 存活 alive up; 探针 probe; 就绪探针 readiness probe; 污点 taint; 容忍 toleration; 亲和 "
            "affinity; 配置项 config; 密文 secret; 卷声明 claim; 持久卷 volume; 服务账号 service account; "
            "步骤数 steps; 构建号 build number; 制品 artifact; 产物 artifact; 镜像标签 image tag; 覆盖 coverage "
            "cover; 用例数 cases; 通过 passed pass; 未通过 failed; 跳过 skipped; 失败原因 failure reason; 耗费 "
            "cost spend; 计费 billing; 账期 period; 币种 currency; 单位 unit; 汇总 summary total; 明细 detail; "
            "趋势 trend; 环比 change; 同比 change; 增长 growth increase; 增加 increase added; 下降 decrease "
            "drop; 减少 decrease reduce; 最新版本 latest version; 当前版本 current version; 补丁版本 patch "
            "version; 旧版本 old version; 暂停 paused pause suspended; 中止 aborted abort; 终止 terminated "
            "aborted; 加载 load loaded; 装载 load loaded; 手动 manual manually; 自动 automatic auto; 定时 "
            "scheduled schedule; 例外 exception exemption; 豁免 exception exemption; 操作系统 operating system "
            "os; 补录 backfill; 未修复 open unfixed; 已修复 fixed; 已接受 accepted; 接受 accepted; 忽略 "
            "ignored; 重跑 rerun retry; 运行记录 runs; 新鲜度 freshness"
        ),
    }
)
"""A word may have several meanings, apart by spaces: data calls one thing by one of them."""

_CLASSIFIERS = "个台条次笔张名位家件起份项只辆间人单封部种场支块处批套架艘列座层栋"
_OF_WHOM = listed("归谁 归 由谁 属于谁 归属 归属于 谁来 谁在")
NOISE_CHINESE = (
    _OF_WHOM
    | frozenset(
        f"{before}{one}"
        for before in ("一", "哪", "哪一", "几", "哪几", "这", "那", "每", "各", "有几", "多少", "两", "三", "前三")
        for one in _CLASSIFIERS
    )
    | listed(
        "周一 周二 周三 周四 周五 周六 周日 星期一 星期二 星期三 星期四 星期五 星期六 星期日 上周 上周五 上周六 "
        "凌晨 早上 上午 下午 晚上 哪边 更 哪一边 起来 有人 没问题 相比 比较 我好 早 "
        "帮 麻烦 的 了 吗 呢 吧 啊 是 和 与 或 里 中 上 都 也 被 把 有 从 会 在 到 对 就 再 先 由 要 做 去 给 让 "
        "这 那 我 你 "
        "它 请 该 还 请问 帮我 帮忙 麻烦 给我 告诉我 看看 看一下 查一下 查看 看下 一下 我们 你们 他们 它们 这个 那个 "
        "这些 那些 里面 中的 里的 什么 哪些 哪个 哪一个 哪台 哪条 哪位 哪张 哪种 哪里 哪儿 哪次 哪家 哪几个 哪几台 谁 "
        "怎么 怎样 如何 为什么 为何 多少 几个 几台 几条 几次 几 是否 有没有 是不是 以及 并且 并 还有 另外 同时 应该 "
        "可以 能否 需要 一共 总共有 出现 发生 进行 分别 各自 相关 关于 根据 按照 按 多少个 多少台 多少条 多少次 "
        "多少笔 多少张 什么时候 何时 几点 多久 多大 多长 多高 多长时间 现在 目前 当前 最近 最近一次 最后一次 上一次 "
        "最常见 最常见的 常见 主要 最主要 最好 最差 多少票 哪票 几票 每票 这票 那票 多少笔 这笔 那笔 "
        "哪笔 最后 第一次 首次 最新 最早 最晚 最多 最少 最大 最小 "
        "最高 最低 最长 最短 最慢 最快 最贵 最便宜 最久 最旧 最老 "
        "最重 最轻 列出 处于 属于 属于哪 来自 一个 一台 一条 个        最 为 时 时候 那么 超过 大于 "
        "高于 多于 小于 低于 少于 没有 没 未 不 不是 非 排名 前三 前五 三个 五个 第几 之间 以来 以上 以下 之后 之前 "
        "过 着 地 得 可 能 啥 咱们 说 说了 写 想 知道 想知道 呀 嘛 下 者 所有 全部 每个 各 的是 年 月 日 号 级 名 方"
    )
)
"""Function words and the words of asking; superlatives are read elsewhere."""

NOISE_ENGLISH = listed(
    "a an the this that these those it its they them their there here i me my we us our you your he his she her "
    "what's who whom whose what which when where why how is are was were be been being am do does did done doing "
    "have has had having will would shall should can could may might must and or but nor if then than so as at by "
    "for from in into of onto out over to up with within without about during between through per via each "
    "every any all some both either also just only very too much many more most less least such same please tell "
    "show give find look see check get let want need know say says there's who's kindly help anything something "
    "everything anyone someone me don doesn didn isn aren wasn weren hasn haven won couldn right now currently "
    "today ever yet still already actually exactly really ok okay hello hi hey thanks one ones lot number count "
    "altogether overall list not no never isn't aren't doesn't don't didn't hasn't top first last latest earliest "
    "newest oldest recent recently highest lowest largest biggest smallest longest shortest slowest fastest "
    "busiest greatest fewest maximum minimum peak average mean often far come came go two three four five six "
    "seven eight nine ten got after before since until t s re ve ll d kind sort thing things moment time times "
    "currently expensive cheapest costliest priciest worst best heaviest common frequently frequent another else "
    "happen happened utc gmt monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night"
)

_KIN = """
node host machine server instance worker vm
launch start begin create open submit trigger introduce
end finish complete close stop resolve
owner own team responsible maintainer lead squad
energy kwh wh electricity power
cost price amount charge spend expensive fee usd eur money bill dollar euro pay
memory mem ram gib mib rss heap mb
disk storage volume space
duration took elapsed runtime run latency seconds ms long slow minute hour time
lag delay behind latency
version release tag revision build
reason cause message error why fault failure
region zone location site area datacenter
size bytes big large gb mb length
fail failure error unhealthy failing broken failed
running active online up
down offline stopped unavailable
restart reboot crash
user account author by owner person login
assign assignee assigned owner
ticket issue incident case
job task run
deploy release rollout deployment ship
env environment stage
ref branch
repo repository project
mail email
severity level priority urgency
expire expiry expiration valid until left
utilization usage used percent load util full fill
capacity limit size quota max
free available remaining left
count total number quantity qty
mean avg average
max maximum peak highest
min minimum lowest
join add register create
status state phase condition health
type kind class flavor flavour model
service app application component
customer client tenant
message text detail description summary
lesson learn takeaway
database db
query statement sql
acknowledge ack confirm
backlog lag depth pending waiting queue queued
row record
address ip
certificate cert
name title
connect connection
flight departure
stuck jam jammed blocked block
affect affected impact impacted
exception error
lead leader head chief manage manager
passenger traveller
carry carries load
closed shut
borrow loan lend lent checkout
return returned back
repair fix repairing maintenance
inspect inspection check
phone telephone hotline contact call
log syslog logs journal logbook trace output
outage down downtime interruption incident
schedule scheduled planned date due
implement implementer execute executor
approve approved approval approver
vendor manufacturer supplier make brand
device equipment asset machine unit
commit change
delay late delayed behind
merge merged
depart departure
arrive arrival
price fare
speed velocity rate
battery charge
ward department unit
flow rate
weight mass kg
distance km miles length
revenue sales income
stock inventory quantity qty available
expense spend cost
vulnerability cve
serial number
report reporter reported
review reviewer
request requester requested
"""


def _kin() -> MappingProxyType[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in _KIN.strip().split("\n"):
        group = frozenset(stem(word) for word in line.split())
        for word in group:
            found[word] = found.get(word, frozenset()) | group
    return MappingProxyType(found)


IRREGULAR: MappingProxyType[str, str] = MappingProxyType(
    _pairs(
        "children child; people person; men man; women woman; met meet; sent send; sold sell; lost lose; built "
        "build; held hold; paid pay; ran run; began begin; "
        "begun begin; broke break; broken break; wrote write; written write; took take; taken take; left "
        "leave; bought buy; lent lend; made make; gave give; given give; kept keep; went go; gone go; chosen "
        "choose; drove drive; driven drive; spent spend; found find"
    )
)
"""Past forms that no ending tells, and their verbs."""

KIN = _kin()
"""Stems that often stand for one another in names of fields and tools."""

PEOPLE = listed(
    "by user username author owner assignee actor who person name engineer creator operator contact committer "
    "team lead reporter approver manager reviewer requester member squad technician foreman driver "
    "agent handler moderator analyst responder dispatcher supervisor responsible"
)
"""Words of fields that hold who did something or is responsible."""
