import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request to the server. */
export interface AdminRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A server that registers and deregisters instances as Spring Boot Admin's does: the same health URL is the same instance. */
export class AdminServer {
  /** The registered instances by id. */
  readonly instances = new Map<string, AdminRequest['body']>();
  readonly requests: AdminRequest[] = [];
  /** Answers every request with this status; 0: does not answer. */
  failure: number | undefined;
  /** Answers a registration with this text instead of an id. */
  answer: string | undefined;
  readonly #events = new EventEmitter();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** The next request of the method. */
  async next(method: string): Promise<AdminRequest> {
    const [request] = (await once(this.#events, method)) as [AdminRequest];
    return request;
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = message;
    let text = '';
    for await (const chunk of message.setEncoding('utf8')) {
      text += String(chunk);
    }
    const body = text === '' ? {} : (JSON.parse(text) as AdminRequest['body']);
    const request = { method, url, authorization: headers.authorization, body };
    this.requests.push(request);
    if (this.failure === undefined) {
      response.writeHead(...this.#answer(request, headers['content-type'])).end(this.#idBody(request));
    } else if (this.failure > 0) {
      response.writeHead(this.failure).end();
    }
    this.#events.emit(method, request);
  }

  #answer({ method, url, body }: AdminRequest, type: string | undefined): [number, Record<string, string>] {
    const json = { 'content-type': 'application/json' };
    if (method === 'POST' && url === '/instances' && type === 'application/json') {
      const isComplete = typeof body['name'] === 'string' && URL.canParse(String(body['healthUrl']));
      this.instances.set(idOf(body), body);
      return isComplete ? [201, { ...json, location: `${this.url}/instances/${idOf(body)}` }] : [400, json];
    }
    const [, id = ''] = /^\/instances\/([0-9a-f]{12})$/.exec(url) ?? [];
    return method === 'DELETE' && this.instances.delete(id) ? [204, {}] : [404, json];
  }

  #idBody({ method, body }: AdminRequest): string {
    return method === 'POST' ? (this.answer ?? JSON.stringify({ id: idOf(body) })) : '';
  }
}

const idOf = ({ healthUrl }: AdminRequest['body']): string =>
  createHash('sha1').update(String(healthUrl)).digest('hex').slice(0, 12);
