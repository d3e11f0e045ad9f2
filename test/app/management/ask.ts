import { type IncomingHttpHeaders, request } from 'node:http';
import { gunzipSync } from 'node:zlib';

/** One request over a real connection. */
export interface Question {
  /** @default GET */
  readonly method?: string;
  /** Path and query, sent as they are. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to a request, with its body uncompressed. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a request to a port of this machine, with the given headers alone. */
export function ask(port: number, { method = 'GET', url, headers = {} }: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        const bytes = Buffer.concat(chunks);
        const isCompressed = received['content-encoding'] === 'gzip' && bytes.length > 0;
        resolve({ status, headers: received, body: (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8') });
      });
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
