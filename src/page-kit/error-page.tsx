import { Page } from './layout.tsx';

interface ErrorPageProps {
  title: string;
  message: string;
  /** Lets an operator find the reason in the log. */
  requestId: string;
}

export function ErrorPage({ title, message, requestId }: ErrorPageProps) {
  return (
    <Page title={title}>
      <p>{message}</p>
      <p>
        <a href="/account">Go to your account</a>
      </p>
      <p class="hint">
        Request <code>{requestId}</code>
      </p>
    </Page>
  );
}
