import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const FILES = join(import.meta.dirname, '../../dist/console/files');

/**
 * Measures the JavaScript that a page requests while it loads.
 * @param load opens the page and waits for its content
 * @returns compressed bytes
 */
export async function scriptSizeOf(page: Page, load: () => Promise<void>): Promise<number> {
  const requested = new Set<string>();
  page.on('request', (request) => {
    if (request.resourceType() === 'script')
      requested.add(new URL(request.url()).pathname.split('/').at(-1) ?? '');
  });
  await load();
  await page.waitForLoadState('networkidle');
  const compressed = readdirSync(FILES).filter(
    (file) => file.endsWith('.js.br') && requested.has(file.slice(0, -3)),
  );
  expect(compressed).toHaveLength(requested.size);
  return compressed.reduce((sum, file) => sum + readFileSync(join(FILES, file)).length, 0);
}
