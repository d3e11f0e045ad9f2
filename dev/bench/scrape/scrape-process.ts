import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ScrapeOrder, Scrapes, ScrapeTarget } from './scrape.ts';

/** As Prometheus sends them. */
const HEADERS = { accept: 'application/openmetrics-text;version=1.0.0', 'accept-encoding': 'gzip' };

const agent = new Agent({ keepAlive: true });
let isOver = false;

/** One scrape until its last byte, over a connection that stays open, as Prometheus keeps it. */
function scrape({ port, path }: ScrapeTarget): Promise<{ readonly milliseconds: number; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    get({ agent, port, host: '127.0.0.1', path, headers: HEADERS }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ milliseconds: performance.now() - began, body: Buffer.concat(chunks) }));
    }).on('error', reject);
  });
}

async function scrapeUntilOver({ target, empty, pausesMs, count }: ScrapeOrder): Promise<Scrapes> {
  const [milliseconds, ofEmptyServer]: [number[], number[]] = [[], []];
  let body = Buffer.alloc(0);
  while (!isOver && milliseconds.length < count) {
    await delay(pausesMs / 2);
    const done = await scrape(target);
    milliseconds.push(done.milliseconds);
    body = Buffer.from(done.body);
    await delay(pausesMs / 2);
    ofEmptyServer.push((await scrape(empty)).milliseconds);
  }
  isOver = false;
  return { milliseconds: ascending(milliseconds), ofEmptyServer: ascending(ofEmptyServer), body };
}

const ascending = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b);

process.once('disconnect', () => process.exit());

process.on('message', async (order: ScrapeOrder | 'over') => {
  if (order === 'over') {
    isOver = true;
  } else {
    process.send?.(await scrapeUntilOver(order));
  }
});
