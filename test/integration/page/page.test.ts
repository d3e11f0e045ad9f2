import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTopic, produce } from '../stack/kafka-client.ts';
import { randomName } from '../stack/random-name.ts';
import { type StartedConsumer, startConsumer } from '../stack/start-consumer.ts';
import { until } from '../stack/until.ts';
import { Chromium, type Tab, type Viewport } from './chromium.ts';
import { observePage } from './observed-page.ts';

const hasChromium = spawnSync('chromium', ['--version']).error === undefined;
const isRequired = process.env['CI'] === 'true';

if (!hasChromium && !isRequired) {
  process.stderr.write('chromium is not installed (Debian: apt-get install chromium): the page is NOT tested\n');
}

/** A name that would do harm where it is not escaped, and is wider than a phone. */
const HOSTILE_GROUP = `"><img src=x onerror=alert(1)></style><script>document.title='stolen'</script>${'w'.repeat(80)}`;

/** Set by npm run dashboards:preview alone: the charts of the picture are of ten minutes. */
const isPreview = process.env['STREAM_CONSUMER_DASHBOARDS_PREVIEW'] === 'true';

const PICTURE = { width: 1_200, height: 1_210, mostBytes: 300_000 };

const SCHEMES = ['light', 'dark'] as const;

let browser: Chromium;
let consumer: StartedConsumer;
let topic: string;

const address = () => `http://127.0.0.1:${consumer.port}/`;

async function openPage(view: Viewport = {}): Promise<Tab> {
  const tab = await browser.open(view);
  await tab.goTo(address());
  return tab;
}

/** The lowest contrast of any text with what is behind it (WCAG 2.1), and where. */
const LOWEST_CONTRAST = `(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    const [r, g, b, alpha = 1] = numbers(getComputedStyle(element).backgroundColor);
    return alpha > 0 ? [r, g, b] : element.parentElement ? behind(element.parentElement) : [255, 255, 255];
  };
  const texts = [...document.body.querySelectorAll('*')].filter(
    (element) => !['SCRIPT', 'STYLE'].includes(element.tagName) &&
      [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''));
  return texts.map((element) => {
    const pair = [light(numbers(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    return [(pair[0] + 0.05) / (pair[1] + 0.05), element.outerHTML.slice(0, 80)];
  }).sort(([a], [b]) => a - b)[0];
})()`;

(hasChromium || isRequired ? describe : describe.skip)('the page of a running consumer in Chromium', () => {
  beforeAll(async () => {
    topic = await createTopic({ partitions: 3 });
    const values = ['{}', '{}', 'no JSON'];
    await produce(
      topic,
      values.map((value, partition) => ({ partition, value })),
    );
    consumer = await startConsumer({ topics: [topic], groupId: `${HOSTILE_GROUP}${randomName('group')}` });
    await consumer.waitForHealth();
    browser = new Chromium();
    await until('the dead letter on the page', async () => {
      const answer = await fetch(address(), { headers: { accept: 'text/html' } });
      return (await answer.text()).includes('invalid_json') || undefined;
    });
  });

  afterAll(() => browser?.close());

  test('shows the group, the state, the topic, its partitions and the dead letter; asks nobody else', async () => {
    const tab = await openPage();
    const text = await tab.text();
    for (const shown of [HOSTILE_GROUP, 'UP', 'running since', `${topic}/2`, 'PostgreSQL', 'Kafka', 'invalid_json']) {
      expect(text).toContain(shown);
    }
    expect(await tab.evaluate('document.title')).toContain('UP · "><img');
    const others = tab.requests.filter((url) => !url.startsWith(address()) && !url.startsWith('data:'));
    expect([others, tab.complaints]).toEqual([[], []]);
  });

  describe.each(SCHEMES)('by a reader who wants it %s', (scheme) => {
    test('is so, and every text has a contrast of 4.5 at least', async () => {
      const tab = await openPage({ scheme });
      const [red = 0] =
        (await tab.evaluate<string>('getComputedStyle(document.body).backgroundColor')).match(/\d+/g)?.map(Number) ??
        [];
      expect(red > 128 ? 'light' : 'dark').toBe(scheme);
      const [contrast, where] = await tab.evaluate<[number, string]>(LOWEST_CONTRAST);
      expect([contrast >= 4.5, where, contrast]).toEqual([true, where, contrast]);
    });
  });

  test.each([320, 768])('fits into %i px without scrolling sideways', async (width) => {
    const tab = await openPage({ width, height: 640 });
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const cut = `[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
      .map((one) => one.outerHTML.slice(0, 60))`;
    expect(await tab.evaluate(cut)).toEqual([]);
  });

  test('reads the same without JavaScript, without a button that does nothing', async () => {
    const tab = await openPage({ hasScript: false });
    const text = await tab.text();
    expect(text).toContain(`${topic}/2`);
    expect(text).toContain('What waits');
    expect(text).not.toContain('Pause');
    expect(text).not.toContain('Refreshes');
  });

  test('refreshes itself without loading anew, and keeps the focus', async () => {
    const tab = await openPage();
    await tab.evaluate('void (window.isTheSame = true) ?? null');
    await tab.press('Tab');
    const focused = await tab.evaluate<string>('document.activeElement.textContent');
    expect(focused).not.toBe('');
    const before = await tab.evaluate<string>("document.querySelector('footer time').dateTime");
    await until('a refreshed page', async () => {
      const now = await tab.evaluate<string>("document.querySelector('footer time').dateTime");
      return now === before ? undefined : now;
    });
    expect(await tab.evaluate('window.isTheSame')).toBe(true);
    expect(await tab.evaluate('document.activeElement.textContent')).toBe(focused);
    expect(tab.complaints).toEqual([]);
  });

  test('is used by the keyboard alone: each link, and the button that pauses', async () => {
    const tab = await openPage();
    const links = await tab.evaluate<number>("document.querySelectorAll('a').length");
    for (let tabs = 0; tabs <= links; tabs += 1) {
      await tab.press('Tab');
      const [name, outline] = await tab.evaluate<[string, string]>(
        '[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle]',
      );
      expect([name, outline]).toEqual([tabs === links ? 'BUTTON' : 'A', 'solid']);
    }
    await tab.press('Space');
    expect(await tab.evaluate('document.activeElement.ariaPressed')).toBe('true');
    expect(await tab.text()).toContain('Paused.');
    await tab.press('Space');
    expect(await tab.text()).toContain('Refreshes every 5 s.');
  });

  if (isPreview) {
    test('draws docs/images/page.png', async () => {
      await observePage(async ({ port }) => {
        const tab = await browser.open({ width: PICTURE.width });
        await tab.goTo(`http://127.0.0.1:${port}/`);
        await tab.resize(PICTURE.width, await tab.evaluate<number>('document.documentElement.scrollHeight'));
        const picture = await tab.picture(PICTURE.width, PICTURE.height);
        writeFileSync('docs/images/page.png', picture);
        expect(picture.length).toBeLessThan(PICTURE.mostBytes);
      });
    }, 900_000);
  }

  test('says since when it has had no answer', async () => {
    const tab = await openPage();
    consumer.kill('SIGKILL');
    await consumer.exited;
    await until('that it is not refreshed', async () => {
      await tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      const text = await tab.text();
      return /Not refreshed since \d\d:\d\d:\d\d UTC: no answer/.test(text) ? text : undefined;
    });
    expect(await tab.text()).toContain(`${topic}/2`);
    const [contrast, where] = await tab.evaluate<[number, string]>(LOWEST_CONTRAST);
    expect([contrast >= 4.5, where, contrast]).toEqual([true, where, contrast]);
  });
});
