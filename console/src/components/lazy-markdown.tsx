import { Loader } from '@mantine/core';
import { type ComponentProps, lazy, Suspense } from 'react';

const MarkdownText = lazy(() => import('./markdown.tsx'));

/** Markdown, whose parser is loaded on demand. */
export function LazyMarkdown(props: ComponentProps<typeof MarkdownText>) {
  return (
    <Suspense fallback={<Loader size="sm" />}>
      <MarkdownText {...props} />
    </Suspense>
  );
}
