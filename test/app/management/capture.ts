import { readdirSync, readFileSync } from 'node:fs';
import { TRANSPORT_HEADERS } from './differences.ts';

const FOLDER = new URL('./golden/', import.meta.url);

/** One answer of a real Spring Boot service, with the request that it answers. */
export interface Capture {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** All captures of the folder `golden`. */
export function readCaptures(): Capture[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.txt'))
    .map((file) => parseCapture(file.slice(0, -'.txt'.length), readFileSync(new URL(file, FOLDER), 'utf8')));
}

function parseCapture(name: string, text: string): Capture {
  const [request = '', answer = ''] = text.split(/\n\n(?=HTTP )/);
  const [requestLine = '', ...requestHeaders] = request.split('\n');
  const [method = '', ...url] = requestLine.split(' ');
  const headEnd = answer.indexOf('\n\n');
  const [statusLine = '', ...headers] = answer.slice(0, headEnd === -1 ? undefined : headEnd).split('\n');
  return {
    name,
    method,
    url: url.join(' '),
    requestHeaders: headersOf(requestHeaders),
    status: Number(statusLine.slice('HTTP '.length)),
    headers: contractHeaders(headersOf(headers)),
    body: headEnd === -1 ? '' : answer.slice(headEnd).trim(),
  };
}

/** Headers by lower-case name; several lines of one name are joined as HTTP allows. */
function headersOf(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines.filter((each) => each.includes(':'))) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    const value = line.slice(line.indexOf(':') + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/** The headers without those that only the transport needs. */
export function contractHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !TRANSPORT_HEADERS.names.has(name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : String(value)]),
  );
}
