import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Requests by their names, with the version that the stub offers of each: the one without a field that no test looks at. */
const REQUESTS = {
  listOffsets: { key: 2, version: 1 },
  metadata: { key: 3, version: 1 },
  offsetCommit: { key: 8, version: 0 },
  findCoordinator: { key: 10, version: 0 },
  joinGroup: { key: 11, version: 0 },
  heartbeat: { key: 12, version: 0 },
  leaveGroup: { key: 13, version: 0 },
  syncGroup: { key: 14, version: 0 },
  saslHandshake: { key: 17, version: 1 },
  apiVersions: { key: 18, version: 0 },
  saslAuthenticate: { key: 36, version: 0 },
} as const;

type RequestName = keyof typeof REQUESTS;

const NAMES = Object.keys(REQUESTS) as readonly RequestName[];

const int8 = (value: number): Buffer => Buffer.of(value & 0xff);
export const int16 = (value: number): Buffer => Buffer.of((value >> 8) & 0xff, value & 0xff);

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}

export const text = (value: string): Buffer => Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);

export const bytes = (value: Buffer): Buffer => Buffer.concat([int32(value.length), value]);

export const list = (items: readonly Buffer[]): Buffer => Buffer.concat([int32(items.length), ...items]);

/** A request as it came in. */
export interface StubRequest {
  readonly name: RequestName;
  /** Behind the client id. */
  readonly body: Buffer;
  /** The connections of a stub are counted from 1. */
  readonly connection: number;
}

/** What a stub answers behind the correlation id; null: nothing, ever. */
export type StubAnswer = (request: StubRequest) => Buffer | null | Promise<Buffer | null>;

type Answers = Partial<Record<RequestName, StubAnswer>>;

const versions = (answers: Answers): StubAnswer => {
  const offered = NAMES.filter((name) => name in answers).map((name) => REQUESTS[name]);
  const apis = [...offered, REQUESTS.apiVersions].map(({ key, version }) => [key, 0, version].map(int16));
  return () => Buffer.concat([int16(0), int32(apis.length), ...apis.flat()]);
};

const HEAD_BYTES = 14;

function requestOf(frame: Buffer, connection: number): StubRequest | undefined {
  const name = NAMES.find((of) => REQUESTS[of].key === frame.readInt16BE(4));
  const clientId = Math.max(0, frame.readInt16BE(12));
  return name && { name, connection, body: frame.subarray(HEAD_BYTES + clientId) };
}

/** A listener that speaks a few requests of Kafka in the place of a broker. */
export class StubBroker {
  readonly requests: StubRequest[] = [];
  /** By the number of the connection. */
  readonly closed = new Set<number>();
  /** It takes connections and requests, and answers none. */
  isFrozen = false;
  readonly #answers: Answers;
  /** With the numbers of their connections. */
  readonly #sockets = new Map<Socket, number>();
  readonly #server = createServer((socket) => this.#serve(socket));
  #connections = 0;

  private constructor(answers: Answers) {
    this.#answers = { apiVersions: versions(answers), ...answers };
  }

  static async start(answers: Answers): Promise<StubBroker> {
    const broker = new StubBroker(answers);
    broker.#server.listen(0, '127.0.0.1');
    await once(broker.#server, 'listening');
    return broker;
  }

  get host(): string {
    return '127.0.0.1';
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get address(): string {
    return `${this.host}:${this.port}`;
  }

  named(name: RequestName): readonly StubRequest[] {
    return this.requests.filter((request) => request.name === name);
  }

  /** Closes the connection of the number. @default all */
  hangUp(only?: number): void {
    for (const [socket, connection] of this.#sockets) {
      if (only === undefined || connection === only) {
        socket.destroy();
      }
    }
  }

  close(): void {
    this.hangUp();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.#connections += 1;
    const connection = this.#connections;
    this.#sockets.set(socket, connection);
    socket.on('error', () => undefined);
    socket.on('close', () => this.closed.add(connection));
    let rest = Buffer.alloc(0);
    socket.on('data', (piece) => {
      rest = Buffer.concat([rest, piece]);
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const end = 4 + rest.readInt32BE(0);
        void this.#answer(socket, rest.subarray(0, end), connection);
        rest = rest.subarray(end);
      }
    });
  }

  async #answer(socket: Socket, frame: Buffer, connection: number): Promise<void> {
    const request = requestOf(frame, connection);
    if (request === undefined) {
      socket.destroy(new Error(`the stub has no answer to the request ${frame.readInt16BE(4)}`));
      return;
    }
    this.requests.push(request);
    const body = await this.#answers[request.name]?.(request);
    if (body && !this.isFrozen) {
      socket.write(Buffer.concat([int32(4 + body.length), frame.subarray(8, 12), body]));
    }
  }
}

/** A partition in an answer about metadata. */
interface StubPartition {
  readonly leader: number;
  readonly error?: number;
}

/** Metadata 1 about brokers, by their ids from 0 on, and topics, whose partitions are counted from 0. */
export const metadataOf = (
  brokers: readonly { readonly host: string; readonly port: number }[],
  topics: Readonly<Record<string, { readonly error?: number; readonly partitions?: readonly StubPartition[] }>> = {},
): Buffer =>
  Buffer.concat([
    list(brokers.map(({ host, port }, id) => Buffer.concat([int32(id), text(host), int32(port), int16(-1)]))),
    int32(0),
    list(
      Object.entries(topics).map(([topic, { error = 0, partitions = [] }]) =>
        Buffer.concat([
          ...[int16(error), text(topic), int8(0)],
          list(
            partitions.map(({ leader, error: partitionError = 0 }, id) =>
              Buffer.concat([int16(partitionError), int32(id), int32(leader), list([]), list([])]),
            ),
          ),
        ]),
      ),
    ),
  ]);

/** FindCoordinator 0: the broker of an id. */
export const coordinatorOf = ({ host, port }: { readonly host: string; readonly port: number }, id = 0): Buffer =>
  Buffer.concat([int16(0), int32(id), text(host), int32(port)]);

/** FindCoordinator 0: an error. */
export const noCoordinator = (error: number): Buffer => Buffer.concat([int16(error), int32(-1), text(''), int32(-1)]);
