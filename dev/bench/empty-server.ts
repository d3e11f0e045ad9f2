import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As much as a compressed scrape of 200 partitions. */
const BODY = Buffer.alloc(12_000, 'x');

/** Answers at once, whatever is asked, and tells the parent process on which port. */
const server = createServer((_, response) => response.end(BODY));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit());
