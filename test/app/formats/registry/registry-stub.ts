import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';

const CAPTURES = new URL('../../../integration/tables/captures/', import.meta.url);

/** What Apicurio answered about each id of the captured records. */
const RECORDED: Readonly<Record<string, object>> = JSON.parse(
  gunzipSync(readFileSync(new URL('schemas.json.gz', CAPTURES))).toString(),
);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with JSON. */
export const json =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_request, response) =>
    response
      .writeHead(status, { 'content-type': 'application/vnd.schemaregistry.v1+json', ...headers })
      .end(JSON.stringify(body));

/** As registries answer where they do not have a schema, or not the subject, or not its version. */
export const notFound = (code: 40401 | 40402 | 40403): Answer => json(404, { error_code: code, message: 'not found' });

/**
 * A registry for tests: it has what Apicurio had when the records were captured, and what a test adds. A test gives
 * other answers to a path, one after the other; the last one stays.
 */
export class RegistryStub {
  readonly #server: Server;
  readonly #answers = new Map<string, Answer[]>();
  readonly requests: { readonly path: string; readonly headers: IncomingMessage['headers'] }[] = [];
  /** Names in the certificates of the clients that asked, one for each request of a client with one. */
  readonly subjects: string[] = [];
  /** Takes the place of all answers. */
  everything: Answer | null = null;

  /** @param serve makes the server. @default one of HTTP */
  constructor(serve: (listener: RequestListener) => Server = createServer) {
    this.#server = serve((request, response) => this.#answer(request, response));
    for (const [id, body] of Object.entries(RECORDED)) {
      this.answer(`/schemas/ids/${id}`, json(200, body));
    }
  }

  answer(path: string, ...answers: readonly Answer[]): void {
    this.#answers.set(path, [...answers]);
  }

  get paths(): readonly string[] {
    return this.requests.map(({ path }) => path);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param port @default any that is free */
  async start(port = 0): Promise<this> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening');
    return this;
  }

  async stop(): Promise<void> {
    if (this.#server.listening) {
      const closed = once(this.#server.close(), 'close');
      this.#server.closeAllConnections();
      await closed;
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push({ path, headers: request.headers });
    const { socket } = request;
    const subject = socket instanceof TLSSocket ? socket.getPeerCertificate().subject?.CN : undefined;
    this.subjects.push(...(subject === undefined ? [] : [subject].flat()));
    const answers = this.#answers.get(path) ?? [notFound(path.startsWith('/schemas') ? 40403 : 40401)];
    const answer = this.everything ?? (answers.length > 1 ? answers.shift() : answers[0]);
    answer?.(request, response);
  }
}
