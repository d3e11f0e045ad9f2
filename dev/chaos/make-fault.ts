import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { BEGIN } from '../../app/store/begin-transaction.ts';
import { type ChaosSite, WRITTEN } from './chaos-stack.ts';
import type { Fault } from './fault.ts';
import type { TcpProxy } from './tcp-proxy.ts';

/** Makes a fault; resolves when it is over and everything that was taken away is there again. */
export async function makeFault(site: ChaosSite, fault: Fault): Promise<void> {
  const { kafka, postgres, kafkaProxy, postgresProxy, fleet, producer } = site;
  switch (fault.kind) {
    case 'kill consumer':
      return fleet.kill(fault.slot);
    case 'freeze consumer':
      return fleet.freeze(fault.slot, fault.ms);
    case 'add consumer':
      // Its rebalance is the fault: that is over when it has partitions.
      return (await fleet.add(fault.slot)).waitForHealth();
    case 'remove consumer':
      return fleet.remove(fault.slot);
    case 'restart PostgreSQL':
      await postgres.stop('immediate');
      await delay(fault.ms);
      return postgres.start();
    case 'restart Kafka':
      await kafka[fault.way]();
      await delay(fault.ms);
      return kafka.start();
    case 'cut PostgreSQL':
      return cut(postgresProxy, fault.ms);
    case 'cut Kafka':
      return cut(kafkaProxy, fault.ms);
    case 'delay PostgreSQL':
      return slowDown(postgresProxy, fault);
    case 'delay Kafka':
      return slowDown(kafkaProxy, fault);
    case 'lock table':
      return lockTable(postgres.urlWithPassword, fault.ms);
    case 'poison burst':
      return producer.burst(fault.partition, fault.records);
  }
}

async function cut(proxy: TcpProxy, ms: number): Promise<void> {
  proxy.cut();
  await delay(ms);
  proxy.restore();
}

async function slowDown(proxy: TcpProxy, { latencyMs, ms }: { latencyMs: number; ms: number }): Promise<void> {
  proxy.delayBy(latencyMs);
  await delay(ms);
  proxy.delayBy(0);
}

/** A lock ends with its connection: when PostgreSQL is restarted meanwhile, it is over sooner. */
async function lockTable(url: string, ms: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`${BEGIN}; LOCK TABLE "${WRITTEN.schema}".records IN ACCESS EXCLUSIVE MODE`);
    await delay(ms);
  } catch (error) {
    if (!isConnectionLost(error)) {
      throw error;
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** SQLSTATE classes 08 and 57: connection exception, operator intervention; a broken socket has no SQLSTATE. */
const isConnectionLost = (error: unknown): boolean =>
  !(error instanceof pg.DatabaseError) || /^(08|57)/.test(error.code ?? '');
