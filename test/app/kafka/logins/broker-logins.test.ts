import { expect, test } from '@jest/globals';
import { BrokerLogins } from '../../../../app/kafka/logins/broker-logins.ts';
import type { LoginRefusal } from '../../../../app/kafka/logins/login-refusal.ts';
import type { Logger } from '../../../../app/logging/logger.ts';
import type { Settings } from '../../../../settings/settings.ts';

const REFUSAL: LoginRefusal = { code: 'KAFKA_LOGIN_REFUSED', words: 'Authentication failed', remedy: 'check it' };
const LOGGER = { warn: () => undefined } as unknown as Logger;

const at = (host: string) => ({ host, port: 9092 });
const BALANCER = 'balancer:9092';
const FIRST = 'first:9092';
const SECOND = 'second:9092';

/** Logins by a load balancer and a second bootstrap address, and when they were told as fatal, in seconds. */
function logins() {
  let seconds = 0;
  const fatal: number[] = [];
  const of = new BrokerLogins({
    current: () => ({ brokers: [BALANCER, 'never-tried:9092'] }) as unknown as Settings['kafka'],
    clock: { steady: () => new Date(seconds * 1_000) },
    logger: LOGGER,
    onRefused: () => fatal.push(seconds),
  });
  const pass = (by: number) => {
    seconds += by;
  };
  /** The bootstrap address accepts, and leads to a broker that refuses, at intervals. */
  const refuse = (broker: string, times: number, every: number) => {
    for (let time = 0; time < times; time += 1) {
      pass(every);
      of.begin(BALANCER);
      of.advertised([at('first'), at('second')]);
      of.answered(BALANCER, true);
      of.begin(broker);
      of.refused(broker, REFUSAL);
    }
  };
  return { of, fatal, pass, refuse };
}

test('refusals of one advertised broker are the end only when the others were tried, too, and did not accept', () => {
  const { of, fatal, refuse } = logins();
  refuse(FIRST, 6, 3);
  expect(fatal).toEqual([]);
  of.begin(SECOND);
  refuse(FIRST, 1, 3);
  expect(fatal).toEqual([21]);
});

test('one advertised broker that refuses while another accepts is no end, whatever its bootstrap address does', () => {
  const { of, fatal, refuse } = logins();
  refuse(SECOND, 1, 3);
  of.begin(FIRST);
  of.answered(FIRST, true);
  refuse(SECOND, 20, 10);
  expect(fatal).toEqual([]);
});

test('a broker that accepts at the listener of another bootstrap address counts, whichever was told last', () => {
  const { of, fatal, refuse } = logins();
  of.advertised([at('other-listener')]);
  of.begin('other-listener:9092');
  of.answered('other-listener:9092', true);
  of.begin(SECOND);
  refuse(FIRST, 20, 10);
  expect(fatal).toEqual([]);
});

test('a broker that no broker advertises any more is not waited for before it was tried', () => {
  const { of, fatal, refuse } = logins();
  of.advertised([at('first'), at('gone')]);
  of.begin(SECOND);
  refuse(FIRST, 5, 3);
  expect(fatal).toEqual([15]);
});

test('a password that rotates behind a load balancer which accepts has three minutes from its first refusal', () => {
  const { of, fatal, pass, refuse } = logins();
  of.advertised([at('first')]);
  for (const broker of [FIRST, SECOND]) {
    of.begin(broker);
    of.answered(broker, true);
  }
  // What was accepted is remembered for five minutes.
  pass(301);
  refuse(FIRST, 10, 30);
  expect(fatal).toEqual([301 + 7 * 30]);
});
