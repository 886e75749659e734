import { type Scope, SCOPES } from '../auth/scopes.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { Button, Form } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { formatDuration } from '../page-kit/relative-time.tsx';

interface ConsentPageProps {
  /** The page's own path and query, to which the decision is posted. */
  address: string;
  application: string;
  redirectUri: string;
  /** Whether only the application can receive the response or redeem the code. */
  isIdentified: boolean;
  session: Session;
  scopes: readonly Scope[];
  /** The requested scopes that the account or the application may not have. */
  deniedScopes: readonly string[];
  /** Maximum lifetime of the access, in milliseconds. */
  lifetime: number;
}

/** Asks the user to allow an application's request. */
export function ConsentPage({
  address,
  application,
  redirectUri,
  isIdentified,
  session,
  scopes,
  deniedScopes,
  lifetime,
}: ConsentPageProps) {
  return (
    <Page title="Allow access?">
      <Form action={address}>
        <p>
          <strong>{application}</strong> wants to access your Assay account.
        </p>
        <dl>
          <dt>Signed in as</dt>
          <dd>{session.email}</dd>
          <dt>Redirects to</dt>
          <dd>{describeRedirect(redirectUri)}</dd>
          <dt>Access for</dt>
          <dd>{formatDuration(lifetime)} at most</dd>
        </dl>
        <h2>Requested permissions</h2>
        <ul class="bullets">
          {scopes.map((scope) => (
            <li key={scope}>
              {SCOPES[scope]} <code>{scope}</code>
            </li>
          ))}
        </ul>
        {deniedScopes.length > 0 && (
          <p class="hint">
            It also requests <code>{deniedScopes.join(' ')}</code>, which your account cannot grant to it.
          </p>
        )}
        <p class="hint">
          {isIdentified
            ? 'Allow this only if you started from this application.'
            : `Any program on this device can ask in the name of ${application}, so you are asked each time. Allow this only if you have just started it; if it shows an address, compare it.`}{' '}
          You can revoke access at any time under Applications in your account.
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
      <Form action={address}>
        <Button kind="plain" name="account" value="other">
          Use another account
        </Button>
      </Form>
    </Page>
  );
}

/** Describes a redirect URI to the user: a host, or an application on their device. */
function describeRedirect(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== 'https:' && protocol !== 'http:')
    return `an application on this device (${protocol.slice(0, -1)})`;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) ? `${host}, which is this device` : host;
}
