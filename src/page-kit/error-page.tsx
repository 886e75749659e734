import type { ComponentChildren } from 'preact';
import { FramedPage } from './frame.tsx';

interface ErrorPageProps {
  title: string;
  message: string;
  /** Lets an operator find the reason in the log. */
  requestId: string;
  /** Where to go; by default, a link to the account. */
  children?: ComponentChildren;
}

export function ErrorPage({ title, message, requestId, children }: ErrorPageProps) {
  return (
    <FramedPage title={title}>
      <section class="stack">
        <p>{message}</p>
        {children ?? (
          <p>
            <a href="/account">Go to your account</a>
          </p>
        )}
        <p class="hint">
          Request <code>{requestId}</code>
        </p>
      </section>
    </FramedPage>
  );
}
