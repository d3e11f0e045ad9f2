import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What is wrong with a registry of schemas: each of these it does in the place of an answer. */
export const REGISTRY_TROUBLES = {
  failing: 'answers 500',
  garbled: 'answers with a page',
  forgetful: 'knows no schema when it is first asked for it,',
} as const;

export type RegistryTrouble = keyof typeof REGISTRY_TROUBLES;

/** What a schema is: an object of Avro, or the text of Protobuf. */
type Schema = object | string;

/** A registry of schemas by id, without subjects, which answers as Confluent's API does. */
export class SchemaServer {
  readonly #server: Server;
  readonly #schemaOf: (id: number) => Schema | undefined;
  #trouble: RegistryTrouble | undefined;
  /** What was asked for since the trouble began. */
  readonly #asked = new Set<string>();

  private constructor(schemaOf: (id: number) => Schema | undefined) {
    this.#schemaOf = schemaOf;
    this.#server = createServer(({ url = '' }, response) => {
      const { status, body } = this.#answer(url);
      response.writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json' }).end(body);
    });
  }

  /** Listens on a free port of the loopback interface. @param schemaOf `undefined` where it has none of the id */
  static async listen(schemaOf: (id: number) => Schema | undefined): Promise<SchemaServer> {
    const server = new SchemaServer(schemaOf);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param trouble from now on. Left out: none */
  setTrouble(trouble?: RegistryTrouble): void {
    this.#trouble = trouble;
    this.#asked.clear();
  }

  /** Ends it and all connections to it. */
  async close(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(path: string): Answer {
    const isAskedAgain = this.#asked.has(path);
    this.#asked.add(path);
    switch (this.#trouble) {
      case 'failing':
        return { status: 500, body: '{"error_code":50001,"message":"broken"}' };
      case 'garbled':
        return { status: 200, body: '<html>Log in</html>' };
      case 'forgetful':
        return isAskedAgain ? this.#schema(path) : NOT_FOUND;
      default:
        return this.#schema(path);
    }
  }

  #schema(path: string): Answer {
    const schema = this.#schemaOf(Number(/^\/schemas\/ids\/(\d+)$/.exec(path)?.[1]));
    if (schema === undefined) {
      return NOT_FOUND;
    }
    const isProtobuf = typeof schema === 'string';
    const answer = isProtobuf ? { schemaType: 'PROTOBUF', schema } : { schema: JSON.stringify(schema) };
    return { status: 200, body: JSON.stringify(answer) };
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

const NOT_FOUND: Answer = { status: 404, body: '{"error_code":40403,"message":"not found"}' };
