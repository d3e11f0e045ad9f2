/** Serves the operational interface in a process of its own; asked for it, tells what the heap holds after a collection. */
import { startManagement } from './running-management.ts';

const { address } = await startManagement();

process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heapUsed: process.memoryUsage().heapUsed });
});
process.send?.({ port: address.port });
