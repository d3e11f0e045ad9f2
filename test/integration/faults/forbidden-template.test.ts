import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  type Admin,
  ConfigResourceTypes,
  ResourcePatternTypes,
} from 'kafkajs';
import { METRICS } from '../../../contract/metrics.ts';
import type { LocalKafka } from '../../../dev/stack/local-kafka.ts';
import { TemplatedShop } from '../kafka/templated-shop.ts';
import { query } from '../stack/database.ts';
import { kafkaClient } from '../stack/kafka-client.ts';
import { longTest } from '../stack/long-test.ts';
import { startPrivateKafka } from '../stack/private-servers.ts';
import { values } from '../stack/told-health.ts';
import { until } from '../stack/until.ts';

let kafka: LocalKafka;
let admin: Admin;

/** All that no ACL is about is allowed, so one that denies is enough, without a login. */
beforeAll(async () => {
  kafka = await startPrivateKafka({
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'allow.everyone.if.no.acl.found': true,
    },
  });
  admin = kafkaClient({ broker: kafka.broker }).admin();
  await admin.connect();
});

afterAll(() => admin.disconnect());

const RULE = {
  ...{ resourceType: AclResourceTypes.TOPIC, resourcePatternType: ResourcePatternTypes.LITERAL },
  ...{ principal: 'User:ANONYMOUS', host: '*' },
} as const;

for (const operation of [AclOperationTypes.READ, AclOperationTypes.ALL]) {
  const denied = operation === AclOperationTypes.ALL ? 'describe' : 'read';
  longTest(
    `a topic of a template that the login may not ${denied} any more waits alone, and goes on when it may`,
    async () => {
      const shop = new TemplatedShop({ broker: kafka.broker });
      await shop.add('orders', 'items');
      await Promise.all([shop.produce('orders', 1), shop.produce('items', 1)]);
      const consumer = await shop.start({ brokers: [kafka.broker] });
      await Promise.all([shop.awaitIds('orders', 1), shop.awaitIds('items', 1)]);
      const rule = { ...RULE, resourceName: shop.topic('items'), operation, permissionType: AclPermissionTypes.DENY };
      const writes = { ...rule, operation: AclOperationTypes.WRITE, permissionType: AclPermissionTypes.ALLOW };
      await admin.createAcls({ acl: denied === 'read' ? [rule, writes] : [rule] });
      await consumer.logs.waitFor(/waits alone.*--operation Read --topic/);
      const waiting = () => values(consumer, METRICS.topicsWaiting, shop.topic('items'));
      expect([await waiting(), await values(consumer, METRICS.unreadablePartitions, shop.topic('items'))]).toEqual([
        [1],
        [0],
      ]);
      await shop.add('bills');
      await Promise.all([shop.produce('orders', 2), shop.produce('bills', 1)]);
      await Promise.all([shop.awaitIds('orders', 1, 2), shop.awaitIds('bills', 1)]);
      expect(consumer.logs.all.join('\n')).not.toMatch(/these topics were deleted|"fatal"/);
      await admin.deleteAcls({
        filters: [
          {
            ...{ resourceType: AclResourceTypes.TOPIC, resourceName: shop.topic('items') },
            ...{ resourcePatternType: ResourcePatternTypes.LITERAL },
            ...{ operation: AclOperationTypes.ANY, permissionType: AclPermissionTypes.ANY },
          },
        ],
      });
      await until('no topic to wait', async () => ((await waiting()).length === 0 ? true : undefined));
      await until('leave to write', () => shop.produce('items', 2));
      await shop.awaitIds('items', 1, 2);
    },
  );
}

longTest(
  'without the right DescribeConfigs the time that is left is not known, and the log has nothing of it',
  async () => {
    const shop = new TemplatedShop({ broker: kafka.broker });
    await shop.add('items', 'bills');
    const resources = ['items', 'bills'].map((table) => ({
      ...{ type: ConfigResourceTypes.TOPIC, name: shop.topic(table) },
      configEntries: [{ name: 'retention.ms', value: '604800000' }],
    }));
    await admin.alterConfigs({ resources, validateOnly: false });
    const allowed = { ...RULE, resourceName: shop.topic('items'), permissionType: AclPermissionTypes.ALLOW };
    const rights = [AclOperationTypes.READ, AclOperationTypes.WRITE];
    await admin.createAcls({ acl: rights.map((operation) => ({ ...allowed, operation })) });
    await until('leave to write', () => shop.produce('items', 1));
    await shop.produce('bills', 1);
    await query(`DROP TABLE ${shop.schema}.items`);
    const consumer = await shop.start({ brokers: [kafka.broker] });
    await consumer.logs.waitFor(/items.*the topic waits alone/);
    // It waits later, so it is asked about behind the other one.
    await shop.awaitIds('bills', 1);
    await query(`DROP TABLE ${shop.schema}.bills`);
    await shop.produce('bills', 2);
    const left = (table: string) => values(consumer, METRICS.topicWaitingRetention, shop.topic(table));
    await until('the time that is left', async () => ((await left('bills')).length > 0 ? true : undefined));
    expect([await left('items'), await values(consumer, METRICS.topicsWaiting)]).toEqual([[], [1, 1]]);
    expect(consumer.logs.all.filter((line) => /DescribeConfigs|settings of|AUTHORIZATION|forbid/i.test(line))).toEqual(
      [],
    );
  },
);
