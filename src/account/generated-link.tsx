import { SecretField } from '../pages/copy-field.tsx';
import { Notice } from '../pages/forms.tsx';
import { RelativeTime } from '../pages/relative-time.tsx';

/** A link for someone else that was just made. */
export interface GeneratedLinkProps {
  email: string;
  /** What was done. */
  done: string;
  url: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** The link, the one time that it is shown. */
export function GeneratedLink({ email, done, url, expiresAt }: GeneratedLinkProps) {
  return (
    <section>
      <Notice kind="success">{done} It is shown this once.</Notice>
      <p>
        Hand it to <strong>{email}</strong> in a way that nobody else reads: whoever has it can use it. It
        ends <RelativeTime at={expiresAt} />.
      </p>
      <SecretField text={url} label="Copy the link" />
    </section>
  );
}
