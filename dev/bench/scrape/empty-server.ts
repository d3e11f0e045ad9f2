import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The size of a compressed scrape of 200 partitions. */
const BODY = Buffer.alloc(12_000, 'x');

/** Answers every request at once, and sends its port to the parent process. */
const server = createServer((_, response) => response.end(BODY));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
