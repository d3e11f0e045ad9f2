import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { AvroFields } from '../../../app/formats/avro/avro-fields.ts';
import { AvroProgram } from '../../../app/formats/avro/avro-program.ts';
import { SchemaRegistry } from '../../../app/formats/registry/schema-registry.ts';
import { isUsable } from '../../../app/formats/registry/schemas.ts';
import { sentJson } from '../../../app/tables/json/json-slice.ts';
import { joined, long, text } from '../../app/formats/avro/encoding.ts';
import { type Apicurio, startApicurio } from '../stack/apicurio.ts';
import { randomName } from '../stack/random-name.ts';

const SET_UP_TIMEOUT_MS = 300_000;

let apicurio: Apicurio;
const opened: SchemaRegistry[] = [];

function open(url = apicurio.registryUrl, subjects: readonly string[] = []) {
  const waits: number[] = [];
  const registry = new SchemaRegistry({
    current: () => ({ url, timeout: '20s' }),
    subjects,
    clock: {
      steady: () => new Date(0),
      wait: async (ms) => {
        waits.push(ms);
      },
    },
    outages: { failed: () => undefined, worked: () => undefined },
  });
  opened.push(registry);
  return { registry, waits };
}

/** Registers a schema by the interface like Confluent's. @returns its id and version */
async function register(subject: string, schema: object | string, rest: object = {}) {
  const body = JSON.stringify({ schema: typeof schema === 'string' ? schema : JSON.stringify(schema), ...rest });
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const versions = `${apicurio.registryUrl}/subjects/${subject}/versions`;
  const answer = await fetch(versions, { method: 'POST', headers, body });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"id"')]);
  return (await (await fetch(`${versions}/latest`)).json()) as { id: number; version: number };
}

const record = (name: string, fields: readonly object[]) => ({ type: 'record', name, namespace: 'shop', fields });
/** Without `$schema` Apicurio takes it for none. */
const JSON_SCHEMA = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
const CUSTOMER = record('Customer', [{ name: 'name', type: 'string' }]);

/** Registers the tests of what a registry that is no stub answers. */
export function testApicurio(): void {
  beforeAll(async () => {
    apicurio = await startApicurio();
  }, SET_UP_TIMEOUT_MS);
  afterEach(() => Promise.all(opened.splice(0).map((registry) => registry.close())));
  afterAll(() => apicurio.stop());

  test('gives a schema with those that it refers to, and a value is read by them', async () => {
    const [customers, orders] = [randomName('customers'), randomName('orders')];
    const { version } = await register(customers, CUSTOMER);
    const order = record('Order', [
      { name: 'id', type: 'long' },
      { name: 'customer', type: 'shop.Customer' },
    ]);
    const references = [{ name: 'shop.Customer', subject: customers, version }];
    const { id } = await register(orders, order, { references });
    const { registry } = open();
    await registry.fetch(new Set([id]));
    const schema = registry.of(id);
    if (schema === undefined || !isUsable(schema)) {
      throw new Error(`the registry gives no schema ${id}`);
    }
    const bytes = joined(long(7), text('Zoë'));
    const fields = new AvroFields();
    expect(fields.read(new AvroProgram(schema, [[]]), bytes, 0, bytes.length)).toBeNull();
    const whole = fields.of(0);
    expect(whole && sentJson(whole)).toBe('{"id":7,"customer":{"name":"Zoë"}}');
  });

  test('names the types of schemas that are not Avro', async () => {
    const json = await register(randomName('json'), JSON_SCHEMA, { schemaType: 'JSON' });
    const proto = 'syntax = "proto3"; message Order { int64 id = 1; }';
    const protobuf = await register(randomName('protobuf'), proto, { schemaType: 'PROTOBUF' });
    const { registry } = open();
    await registry.fetch(new Set([json.id, protobuf.id]));
    expect([registry.of(json.id), registry.of(protobuf.id)]).toMatchObject([{ type: 'JSON' }, { type: 'PROTOBUF' }]);
  });

  test('gives the latest schema of a subject, and none of another one', async () => {
    const subject = `${randomName('topic')}-value`;
    const { id } = await register(subject, CUSTOMER);
    const { registry } = open();
    expect(await registry.latest(subject)).toMatchObject({ id, type: 'AVRO' });
    expect(await registry.latest(randomName('none'))).toBeUndefined();
  });

  test('is asked twice for an id that it does not have, while it has others', async () => {
    const subject = `${randomName('topic')}-value`;
    await register(subject, CUSTOMER);
    const { registry, waits } = open(apicurio.registryUrl, [subject]);
    await registry.check();
    await registry.fetch(new Set([2 ** 31 - 1]));
    expect(registry.of(2 ** 31 - 1)).toMatchObject({ reason: 'unknown_schema' });
    expect(waits).toEqual([5_000]);
  });

  test('refuses at a wrong path', async () => {
    const { registry } = open(`${apicurio.url}/apis/ccompat/v7/more`, ['topic-value']);
    await expect(registry.check()).rejects.toMatchObject({ code: 'REGISTRY_REFUSED' });
  });

  test(
    'makes no schema unknown once it has lost its data',
    async () => {
      const subject = `${randomName('topic')}-value`;
      const { id } = await register(subject, CUSTOMER);
      const { registry } = open(apicurio.registryUrl, [subject]);
      await registry.fetch(new Set([id]));
      const { port } = apicurio;
      await apicurio.stop();
      apicurio = await startApicurio(port);
      await expect(registry.fetch(new Set([id + 1]))).rejects.toMatchObject({
        reason: 'registry_away',
        message: expect.stringContaining('has lost its data'),
      });
      expect(registry.of(id)).toMatchObject({ id });
    },
    SET_UP_TIMEOUT_MS,
  );
}
