import type { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { useEffect, useState } from 'react';

/** The syntax tree of a Markdown text, or why it has none. */
type ParsedMarkdown = Parameters<typeof toJsxRuntime>[0] | 'too-complex' | 'unavailable';

/** Milliseconds between checks of the time limit. */
const TICK = 100;
/** Ticks after which parsing is cancelled. Counting ticks excludes the time in which the page itself was busy. */
const MAX_TICKS = 10;
/** Characters of the texts in the cache. */
const MAX_CACHED_LENGTH = 500_000;

interface ParseRequest {
  text: string;
  settle: (parsed: ParsedMarkdown) => void;
}

/** Parsed texts, oldest first. */
const cache = new Map<string, ParsedMarkdown>();
let cachedLength = 0;
const waiting: ParseRequest[] = [];
let current: ParseRequest | undefined;
let worker: Worker | undefined;
let isReady = false;

/**
 * Parses a Markdown text in a worker, so that no text can freeze the page.
 * @returns undefined until it is parsed
 */
export function useParsedMarkdown(text: string): ParsedMarkdown | undefined {
  const [latest, setLatest] = useState<{ text: string; parsed: ParsedMarkdown }>();
  useEffect(() => {
    if (cache.has(text)) return undefined;
    const request: ParseRequest = { text, settle: (parsed) => setLatest({ text, parsed }) };
    waiting.push(request);
    parseNext();
    return () => {
      const index = waiting.indexOf(request);
      if (index !== -1) waiting.splice(index, 1);
    };
  }, [text]);
  return latest?.text === text ? latest.parsed : cache.get(text);
}

function parseNext(): void {
  if (current !== undefined || waiting.length === 0) return;
  worker ??= startWorker();
  if (!isReady) return;
  // Shortest first, so that ordinary texts do not wait for one that reaches the time limit.
  const [shortest] = waiting.toSorted((one, other) => one.text.length - other.text.length);
  if (shortest === undefined) return;
  current = shortest;
  waiting.splice(waiting.indexOf(shortest), 1);
  // Only windows have origins.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(shortest.text);
  startTimeLimit(shortest, MAX_TICKS);
}

function startTimeLimit(request: ParseRequest, ticks: number): void {
  setTimeout(() => {
    if (current !== request) return;
    if (ticks > 1) return startTimeLimit(request, ticks - 1);
    stopWorker();
    finish('too-complex');
  }, TICK);
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
function finish(parsed: ParsedMarkdown): void {
  if (current === undefined) return;
  const { text, settle } = current;
  current = undefined;
  addToCache(text, parsed);
  settle(parsed);
  for (const duplicate of waiting.filter((other) => other.text === text)) {
    waiting.splice(waiting.indexOf(duplicate), 1);
    duplicate.settle(parsed);
  }
  parseNext();
}

function addToCache(text: string, parsed: ParsedMarkdown): void {
  cache.set(text, parsed);
  cachedLength += text.length;
  for (const oldest of cache.keys()) {
    if (cachedLength <= MAX_CACHED_LENGTH) return;
    cache.delete(oldest);
    cachedLength -= oldest.length;
  }
}
