import { type IncomingHttpHeaders, request } from 'node:http';

/** One request over a real connection. */
export interface Question {
  /** @default GET */
  readonly method?: string;
  /** Path and query, sent as they are. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks the server at a port of this machine, with nothing in the headers but what is given. */
export function ask(port: number, { method = 'GET', url, headers = {} }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (data: string) => {
        body += data;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
