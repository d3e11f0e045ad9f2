import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars'],
  ...['--remote-debugging-pipe', '--no-first-run', '--disable-background-networking'],
];

/** A message of the DevTools protocol that is no answer. */
interface BrowserEvent {
  readonly method: string;
  readonly sessionId?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Message extends Partial<BrowserEvent> {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

/** What a page looks like to its reader. */
export interface Viewport {
  /** @default 1280 */
  readonly width?: number;
  /** @default 900 */
  readonly height?: number;
  /** @default 'light' */
  readonly scheme?: 'light' | 'dark';
  /** @default true */
  readonly hasScript?: boolean;
}

/** A headless Chromium, driven by its DevTools protocol over a pipe. */
export class Chromium {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #answers = new Map<number, (message: Message) => void>();
  readonly #listeners = new Set<(event: BrowserEvent) => void>();
  #last = 0;
  #rest = '';

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), 'chromium-'));
    const args = [...ARGUMENTS, `--user-data-dir=${this.#folder}`];
    this.#process = spawn('chromium', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    const [, , , , answers] = this.#process.stdio;
    (answers as Readable).setEncoding('utf8').on('data', (text: string) => this.#receive(text));
  }

  #receive(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const json of messages) {
      const message = JSON.parse(json) as Message;
      const { id, method, params = {}, sessionId } = message;
      if (id !== undefined) {
        this.#answers.get(id)?.(message);
      } else if (method !== undefined) {
        for (const listener of this.#listeners) listener({ method, params, ...(sessionId && { sessionId }) });
      }
    }
  }

  /** Sends a command and returns its answer. */
  send(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    this.#last += 1;
    const id = this.#last;
    const answered = new Promise<Readonly<Record<string, unknown>>>((resolve, reject) => {
      this.#answers.set(id, ({ result = {}, error }) => {
        this.#answers.delete(id);
        if (error) {
          reject(new Error(`${method}: ${error.message}`));
        } else {
          resolve(result);
        }
      });
    });
    (this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return answered;
  }

  /** Calls `listener` for each event, until the returned function is called. */
  listen(listener: (event: BrowserEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Opens an empty tab. */
  async open(view: Viewport = {}): Promise<Tab> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(this, String(sessionId));
    await tab.prepare(view);
    return tab;
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    if (this.#process.exitCode === null) {
      await Promise.race([this.send('Browser.close').catch(() => undefined), ended]);
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const KEYS: Readonly<Record<'Tab' | 'Space', object>> = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Space: { key: ' ', code: 'Space', windowsVirtualKeyCode: 32, text: ' ' },
};

/** One tab, with all that it asked for and complained about. */
export class Tab {
  readonly #browser: Chromium;
  readonly #session: string;
  /** Addresses of all requests. */
  readonly requests: string[] = [];
  /** Errors, warnings and violations of the policy that the browser reports. */
  readonly complaints: string[] = [];

  constructor(browser: Chromium, session: string) {
    this.#browser = browser;
    this.#session = session;
    browser.listen(({ method, params, sessionId }) => {
      if (sessionId !== session) return;
      if (method === 'Network.requestWillBeSent') {
        this.requests.push((params as { request: { url: string } }).request.url);
      } else if (method === 'Log.entryAdded' || method === 'Runtime.exceptionThrown') {
        this.complaints.push(JSON.stringify(params));
      }
    });
  }

  async prepare({ width = 1_280, height = 900, scheme = 'light', hasScript = true }: Viewport): Promise<void> {
    for (const domain of ['Page', 'Network', 'Log', 'Runtime']) {
      await this.#send(`${domain}.enable`);
    }
    const media = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#send('Emulation.setEmulatedMedia', { features: media });
    await this.#send('Emulation.setScriptExecutionDisabled', { value: !hasScript });
    await this.resize(width, height);
  }

  /** Sets the size of the view, in CSS pixels. */
  resize(width: number, height: number): Promise<unknown> {
    return this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** Goes to an address and waits until all of it is there. */
  async goTo(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      const end = this.#browser.listen(({ method, sessionId }) => {
        if (method === 'Page.loadEventFired' && sessionId === this.#session) {
          end();
          resolve();
        }
      });
    });
    const { errorText } = await this.#send('Page.navigate', { url });
    if (typeof errorText === 'string') {
      throw new Error(`${url}: ${errorText}`);
    }
    await loaded;
  }

  /** The value of an expression of JavaScript in the page, as JSON. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', {
      expression: `JSON.stringify(${expression})`,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    }
    return JSON.parse((result as { value?: string }).value ?? 'null') as Value;
  }

  /** The text that a reader sees. */
  text(): Promise<string> {
    return this.evaluate<string>('document.body.innerText');
  }

  /** Presses a key and lets it go. */
  async press(key: keyof typeof KEYS): Promise<void> {
    await this.#send('Input.dispatchKeyEvent', { type: 'keyDown', ...KEYS[key] });
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', ...KEYS[key] });
  }

  /** The upper part of what is seen, as PNG. */
  async picture(width: number, height: number): Promise<Buffer> {
    const clip = { x: 0, y: 0, width, height, scale: 1 };
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png', clip });
    return Buffer.from(String(data), 'base64');
  }

  #send(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    return this.#browser.send(method, params, this.#session);
  }
}
