/** What differs from one local broker to another. */
export interface BrokerLayout {
  readonly port: number;
  /** Port that clients are told to use, such as a proxy's. @default {@link port} */
  readonly advertisedPort?: number;
  /** A second way in, for clients that see this machine under another address. @default none */
  readonly elsewhere?: { readonly port: number; readonly host: string };
  readonly controllerPort: number;
  readonly dataFolder: string;
}

/**
 * `server.properties` of one node that is broker and controller: nothing is replicated, groups begin at once, and
 * topics are made on purpose only, so a misspelt one is an error. A broker that crashed may register again after 3 s.
 */
export function serverProperties(layout: BrokerLayout): string {
  const { port, advertisedPort = port, elsewhere, controllerPort, dataFolder } = layout;
  const more = elsewhere === undefined ? '' : `,ELSEWHERE://127.0.0.1:${elsewhere.port}`;
  const moreAdvertised = elsewhere === undefined ? '' : `,ELSEWHERE://${elsewhere.host}:${elsewhere.port}`;
  const settings: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,ELSEWHERE:PLAINTEXT',
    listeners: `PLAINTEXT://127.0.0.1:${port}${more},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${advertisedPort}${moreAdvertised}`,
    'log.dirs': dataFolder,
    'auto.create.topics.enable': false,
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1_000,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
  };
  return Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
