import { setTimeout as delay } from 'node:timers/promises';
import { EXIT_CODE } from '../../contract/exit-code.ts';
import { limitFetches } from '../stack/client-quota.ts';
import type { RegistryTrouble } from '../stack/schema-server.ts';
import { type ChaosStack, CLIENT_ID, COUNTED_LOG_LINES } from './chaos-stack.ts';
import { type ConsumerFleet, LISTENING } from './consumer-fleet.ts';
import { insist } from './insist.ts';
import { KEYED_SETTINGS } from './keyed-topic.ts';
import type { Fault, Visit } from './schedule.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/**
 * Makes a fault; resolves when it is over and everything that it took away is there again, but for a deleted topic.
 */
export async function makeFault(stack: ChaosStack, fault: Fault): Promise<void> {
  const { kafka, postgres, database, kafkaProxy, postgresProxy, fleet, producer } = stack;
  switch (fault.kind) {
    case 'kill consumer':
      return fleet.kill(fault.slot);
    case 'freeze consumer':
      return fleet.freeze(fault.slot, fault.ms);
    case 'add consumer':
      // Its rebalance is the fault, which is over once the new consumer has partitions.
      return (await fleet.add(fault.slot)).waitForHealth();
    case 'remove consumer':
      return fleet.remove(fault.slot);
    case 'join storm':
      return joinStorm(fleet, fault.slot, fault.visits);
    case 'restart PostgreSQL':
      return restart(postgres, () => postgres.stop('immediate'), fault.ms);
    case 'restart Kafka':
      return restart(kafka, () => kafka[fault.way](), fault.ms);
    case 'cut PostgreSQL':
      return cut(postgresProxy, fault.ms);
    case 'cut Kafka':
      return cut(kafkaProxy, fault.ms);
    case 'cut registry':
      return cut(stack.registryProxy, fault.ms);
    case 'spoil registry':
      return spoil(stack, fault);
    case 'delay PostgreSQL':
      return slowDown(postgresProxy, fault);
    case 'delay Kafka':
      return slowDown(kafkaProxy, fault);
    case 'lock table':
    case 'alter table':
    case 'rename column':
      return changeTable(stack, fault);
    case 'limit connections':
      return database.limitConnections(fault.way, fault.ms);
    case 'limit bytes':
      return limitBytes(stack, fault);
    case 'set clock':
      return fleet.setClock(fault.slot, fault.hours, fault.ms);
    case 'fill output':
      return fleet.fillOutput(fault.slot, fault.ms);
    case 'delete topic':
    case 're-create topic':
    case 'create topic':
    case 'drop topic':
      return changeTopics(stack, fault);
    case 'second group':
      return refuseSecondGroup(stack, fault.number);
    case 'poison burst':
      return producer.burst(fault.partition, fault.records);
  }
}

type TableFault = Extract<Fault, { kind: 'lock table' | 'alter table' | 'rename column' }>;

function changeTable(stack: ChaosStack, fault: TableFault): Promise<void> {
  switch (fault.kind) {
    case 'lock table':
      return stack.database.lock(fault.table, fault.ms);
    case 'alter table':
      return stack.database.alter(fault.table, fault.change, fault.ms);
    case 'rename column':
      return renameColumn(stack, fault.ms);
  }
}

/** At least until a consumer has left the topic of the table waiting. */
function renameColumn({ database, fleet }: ChaosStack, ms: number): Promise<void> {
  const waits = COUNTED_LOG_LINES['topics that waited for their tables'];
  const before = fleet.counted(waits);
  const noticed = async (): Promise<void> => {
    if (fleet.counted(waits) === before) {
      throw new Error('no topic waits for the table payments');
    }
  };
  return database.renameColumn(async () => {
    await Promise.all([insist(noticed), delay(ms)]);
  });
}

async function restart(server: { start(): Promise<void> }, stop: () => Promise<void>, awayMs: number): Promise<void> {
  await stop();
  await delay(awayMs);
  return server.start();
}

/**
 * Starts and removes consumers within seconds, as the visits say, while the one in a slot is removed and another one
 * started there. Resolves when the visitors are gone and that one has partitions.
 */
async function joinStorm(fleet: ConsumerFleet, slot: number, visits: readonly Visit[]): Promise<void> {
  const visit = async ({ slot: visited, afterMs, staysMs }: Visit) => {
    await delay(afterMs);
    const { logs } = await fleet.add(visited);
    await logs.waitFor(LISTENING);
    await delay(staysMs);
    await fleet.remove(visited);
  };
  const renew = async () => {
    await fleet.remove(slot);
    await (await fleet.add(slot)).waitForHealth();
  };
  await Promise.all([...visits.map(visit), renew()]);
}

/** Reads the topic of the table by key alone: in `records` its first record would stop it as well. */
function refuseSecondGroup({ fleet }: ChaosStack, number: number): Promise<void> {
  const env = { KAFKA_GROUP_ID: `chaos-second-${number}`, KAFKA_TOPICS: KEYED_SETTINGS.TABLES_0_TOPIC };
  return fleet.refuse(env, { exitCode: EXIT_CODE.configuration, code: 'GROUP_MEETS_ANOTHER' });
}

async function cut(proxy: TcpProxy, ms: number): Promise<void> {
  proxy.cut();
  await delay(ms);
  proxy.restore();
}

async function spoil(
  { registry }: ChaosStack,
  { trouble, ms }: { trouble: RegistryTrouble; ms: number },
): Promise<void> {
  registry.setTrouble(trouble);
  await delay(ms);
  registry.setTrouble();
}

async function slowDown(proxy: TcpProxy, { latencyMs, ms }: { latencyMs: number; ms: number }): Promise<void> {
  proxy.delayBy(latencyMs);
  await delay(ms);
  proxy.delayBy(0);
}

/** The broker's quota for what it sends to the consumers, all of them together. */
async function limitBytes({ kafka }: ChaosStack, limit: { bytesPerSecond: number; ms: number }): Promise<void> {
  await insist(() => limitFetches(kafka.broker, CLIENT_ID, limit.bytesPerSecond));
  await delay(limit.ms);
  await insist(() => limitFetches(kafka.broker, CLIENT_ID, undefined));
}

/** A topic of the template comes or goes, or the named one is deleted: it stays away until {@link createTopicAgain}. */
async function changeTopics(stack: ChaosStack, fault: Extract<Fault, { kind: `${string} topic` }>): Promise<void> {
  const { side, templated } = stack;
  switch (fault.kind) {
    case 'create topic':
      return templated.create();
    case 'drop topic':
      return templated.drop();
    case 'delete topic':
      await side.delete();
      return delay(fault.ms);
    case 're-create topic':
      await side.delete();
      return createTopicAgain(stack);
  }
}

/**
 * Creates the deleted topic again. The consumers take it for another one and end, again and again, until a command lets
 * them begin it at 0.
 */
export async function createTopicAgain({ side, fleet }: ChaosStack): Promise<void> {
  const before = fleet.allowedEnds;
  fleet.allowEnds(/TOPIC_RECREATED/);
  await side.createAgain();
  const noticed = async () => {
    if (fleet.allowedEnds === before) {
      throw new Error('no consumer has noticed it');
    }
  };
  const isNoticed = await insist(noticed).then(
    () => true,
    () => false,
  );
  await insist(() => fleet.command('offsets', 'begin-again', side.written.topic, '--rename-rows'));
  await side.findRenamed(isNoticed);
  await insist(() => Promise.all(fleet.processes.map((consumer) => consumer.waitForHealth())));
}
