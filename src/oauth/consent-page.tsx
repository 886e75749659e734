import { type Scope, SCOPES } from '../auth/scopes.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { Button, Form } from '../pages/forms.tsx';
import { Page } from '../pages/layout.tsx';
import { formatDuration } from '../pages/relative-time.tsx';

interface ConsentPageProps {
  /** Its own path and query, which the decision is sent to. */
  address: string;
  application: string;
  redirectUri: string;
  session: Session;
  scopes: readonly Scope[];
  /** What the application asks for and the account may not hold. */
  withheld: readonly string[];
  /** How long it has access at most, in milliseconds. */
  lifetime: number;
}

/** Asks the user whether an application may have what it asks for. */
export function ConsentPage({
  address,
  application,
  redirectUri,
  session,
  scopes,
  withheld,
  lifetime,
}: ConsentPageProps) {
  return (
    <Page title="Allow access?">
      <Form action={address}>
        <p>
          <strong>{application}</strong> wants to use Assay in your name.
        </p>
        <dl>
          <dt>Signed in as</dt>
          <dd>{session.email}</dd>
          <dt>Sends you to</dt>
          <dd>{describeRedirect(redirectUri)}</dd>
          <dt>Lasts</dt>
          <dd>{formatDuration(lifetime)} at most</dd>
        </dl>
        <h2 class="above-list">It would be able to</h2>
        <ul class="scopes">
          {scopes.map((scope) => (
            <li key={scope}>
              {SCOPES[scope]} <code>{scope}</code>
            </li>
          ))}
        </ul>
        {withheld.length > 0 && (
          <p class="hint">
            It also asks for <code>{withheld.join(' ')}</code>. Your account may not do that, so the
            application would not get it.
          </p>
        )}
        <p class="hint">
          Allow it only if you came here from this application. You can take it back at any time, under
          Applications in your account.
        </p>
        <input type="hidden" name="scopes" value={scopes.join(' ')} />
        <div class="actions">
          <Button name="decision" value="allow">
            Allow
          </Button>
          <Button kind="plain" name="decision" value="deny">
            Deny
          </Button>
        </div>
      </Form>
      <Form action={address} class="aside">
        <Button kind="plain" name="account" value="other">
          Sign in as someone else
        </Button>
      </Form>
    </Page>
  );
}

/** @returns where a redirect address is, for people: a host, or an application on their device */
function describeRedirect(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:')
    return `an application on this device (${protocol.slice(0, -1)})`;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) ? `${host}, which is this device` : host;
}
