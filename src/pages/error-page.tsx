import { Page } from './layout.tsx';

interface ErrorPageProps {
  title: string;
  message: string;
  /** By which an operator finds the reason in the log. */
  requestId: string;
}

/** What a person sees when a page cannot be shown. */
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
