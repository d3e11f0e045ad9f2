import protobuf from 'protobufjs';

/** As a team writes it that has Confluent's decimals. */
export const PROTO_SCHEMA = `syntax = "proto3";
package bench;
import "google/protobuf/timestamp.proto";
import "confluent/type/decimal.proto";
message Order {
  int64 id = 1; int32 customerId = 2; confluent.type.Decimal total = 3; google.protobuf.Timestamp placedAt = 4;
  bool gift = 5; string paymentId = 6; string currency = 7; string status = 8; string customerName = 9;
  repeated Item items = 10;
  message Item { int32 sku = 1; int32 quantity = 2; }
}`;

/** Of the schema in the registry of a benchmark. */
export const PROTO_ORDER_ID = 3;

const DECIMAL = `syntax = "proto3"; package confluent.type;
  message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }`;

function orderMessage(): protobuf.Type {
  const root = new protobuf.Root();
  const options = { keepCase: true };
  protobuf.parse(PROTO_SCHEMA, root, options);
  protobuf.parse(DECIMAL, root, options);
  root.addJSON(protobuf.common.get('google/protobuf/timestamp.proto')?.nested ?? {});
  return root.resolveAll().lookupType('bench.Order');
}

const ORDER = orderMessage();

/** Behind the byte 0, the id of the schema; then the first message of it. */
const PREFIX = Buffer.from([0, 0, 0, 0, PROTO_ORDER_ID, 0]);

function decimal(total: unknown): object {
  const value = Buffer.alloc(4);
  value.writeInt32BE(Math.round(Number(total) * 100));
  return { value, precision: 12, scale: 2 };
}

/** An order that is JSON, in Protobuf behind the id of its schema. */
export function protobufOrder(json: string): Buffer {
  const order = JSON.parse(json) as { readonly total: unknown; readonly placedAt: string };
  const milliseconds = Date.parse(order.placedAt);
  const placedAt = { seconds: Math.floor(milliseconds / 1_000), nanos: (milliseconds % 1_000) * 1_000_000 };
  return Buffer.concat([PREFIX, ORDER.encode({ ...order, total: decimal(order.total), placedAt }).finish()]);
}
