import { beforeEach, describe, expect, test } from '@jest/globals';
import { HeardBrokers } from '../../../../app/kafka/logins/heard-brokers.ts';

const BOOTSTRAP = ['a:9092', 'b:9092'];

let heard: HeardBrokers;

beforeEach(() => {
  heard = new HeardBrokers();
});

describe('the reason of an outage without a word', () => {
  test('has for each bootstrap broker whether anything speaks Kafka there', () => {
    heard.connected('a:9092');
    expect(heard.explain('no answer within 3000 ms', BOOTSTRAP)).toBe(
      "no answer within 3000 ms: a:9092 takes connections, and has answered nothing by Kafka's protocol; b:9092 has taken no connection",
    );
    heard.spoke('a:9092');
    heard.connected('a:9092');
    expect(heard.explain('no answer within 3000 ms', ['a:9092'])).toBe(
      "no answer within 3000 ms: a:9092 spoke Kafka's protocol before",
    );
  });

  test('is about the bootstrap brokers where the coordinator takes no connection', () => {
    const text = 'the coordinator of the group took no connection within 3333 ms';
    heard.spoke('a:9092');
    expect(heard.explain(text, ['a:9092'])).toBe(`${text}: a:9092 spoke Kafka's protocol before`);
  });

  test.each(['Closed connection', 'Connection error: read ECONNRESET', 'Request Metadata timed out'])(
    'is about the broker that it names: %s',
    (text) => {
      heard.connected('c:9093');
      expect(heard.explain(`${text} (c:9093)`, BOOTSTRAP)).toBe(
        `${text} (c:9093): c:9093 takes connections, and has answered nothing by Kafka's protocol`,
      );
    },
  );

  test.each([
    'Connection error: connect ECONNREFUSED 127.0.0.1:1',
    'getaddrinfo ENOTFOUND kafka',
    'a:9092 sent an answer of the size 5: these are the letters of HTTP',
  ])('stays as it is where it has one: %s', (reason) => {
    expect(heard.explain(reason, BOOTSTRAP)).toBe(reason);
  });

  test('reaches the log by the watch, which reports what works as it is', () => {
    const reported: string[] = [];
    const watch = heard.watch(
      { failed: (reason) => void reported.push(reason), worked: () => void reported.push('worked') },
      () => ['a:9092'],
    );
    watch.failed('no answer within 3000 ms');
    watch.worked();
    expect(reported).toEqual(['no answer within 3000 ms: a:9092 has taken no connection', 'worked']);
  });
});
