import type { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { useEffect, useState } from 'react';

/** The elements of a Markdown text, or why it has none. */
export type ParsedMarkdown = Parameters<typeof toJsxRuntime>[0] | 'too-complex' | 'unavailable';

/** Milliseconds. */
const TURN = 100;
/** Timers that a text may outlast. Counting them excludes the time that the page itself was busy. */
const MAX_TURNS = 10;
/** Characters of the texts whose layouts are kept. */
const MAX_KEPT = 500_000;

interface LayoutRequest {
  text: string;
  settle: (layout: ParsedMarkdown) => void;
}

/** Layouts by text, oldest first. */
const kept = new Map<string, ParsedMarkdown>();
let keptLength = 0;
const waiting: LayoutRequest[] = [];
let current: LayoutRequest | undefined;
let worker: Worker | undefined;
let isReady = false;

/**
 * Parses a Markdown text in a worker, so that no text can freeze the page.
 * @returns undefined until it is parsed
 */
export function useParsedMarkdown(text: string): ParsedMarkdown | undefined {
  const [latest, setLatest] = useState<{ text: string; layout: ParsedMarkdown }>();
  useEffect(() => {
    if (kept.has(text)) return undefined;
    const request: LayoutRequest = { text, settle: (layout) => setLatest({ text, layout }) };
    waiting.push(request);
    parseNext();
    return () => {
      const at = waiting.indexOf(request);
      if (at !== -1) waiting.splice(at, 1);
    };
  }, [text]);
  return latest?.text === text ? latest.layout : kept.get(text);
}

function parseNext(): void {
  if (current !== undefined || waiting.length === 0) return;
  worker ??= startWorker();
  if (!isReady) return;
  // Ordinary texts do not wait for those that take all of their time.
  const [shortest] = waiting.toSorted((one, other) => one.text.length - other.text.length);
  if (shortest === undefined) return;
  current = shortest;
  waiting.splice(waiting.indexOf(shortest), 1);
  // Only windows have origins.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(shortest.text);
  limit(shortest, MAX_TURNS);
}

function limit(request: LayoutRequest, turns: number): void {
  setTimeout(() => {
    if (current !== request) return;
    if (turns > 1) return limit(request, turns - 1);
    stopWorker();
    finish('too-complex');
  }, TURN);
}

function startWorker(): Worker {
  const started = new Worker(new URL('./markdown-worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<ParsedMarkdown | 'ready' | null>) => {
    if (worker !== started) return;
    if (data === 'ready') {
      isReady = true;
      parseNext();
    } else finish(data ?? 'too-complex');
  });
  started.addEventListener('error', () => {
    if (worker !== started) return;
    stopWorker();
    for (const { settle } of [...(current === undefined ? [] : [current]), ...waiting.splice(0)])
      settle('unavailable');
    current = undefined;
  });
  return started;
}

function stopWorker(): void {
  worker?.terminate();
  worker = undefined;
  isReady = false;
}

/** Settles the current request and those with the same text. */
function finish(layout: ParsedMarkdown): void {
  if (current === undefined) return;
  const { text, settle } = current;
  current = undefined;
  keep(text, layout);
  settle(layout);
  for (const same of waiting.filter((other) => other.text === text)) {
    waiting.splice(waiting.indexOf(same), 1);
    same.settle(layout);
  }
  parseNext();
}

function keep(text: string, layout: ParsedMarkdown): void {
  kept.set(text, layout);
  keptLength += text.length;
  for (const oldest of kept.keys()) {
    if (keptLength <= MAX_KEPT) return;
    kept.delete(oldest);
    keptLength -= oldest.length;
  }
}
