import type { ComponentChildren } from 'preact';
import { relyingPartyOf } from '../auth/webauthn.ts';
import type { Context } from '../context.ts';
import { safeReturnPath } from '../page-kit/paths.ts';
import { Button, Form } from '../page-kit/forms.tsx';
import type { PasskeyPurpose } from './passkey-endpoints.ts';
import { MESSAGES } from './messages.ts';

/** The scripts of pages with a `PasskeyForm`. */
export const PASSKEY_SCRIPTS = ['passkeys.js'] as const;

interface PasskeyFormProps {
  context: Context;
  purpose: PasskeyPurpose;
  action: string;
  label: string;
  kind?: 'primary' | 'plain';
  children?: ComponentChildren;
}

/**
 * A form that `assets/passkeys.js` fills in with an authenticator's response. It is hidden until the script finds
 * that the browser supports passkeys.
 */
export function PasskeyForm({
  context,
  purpose,
  action,
  label,
  kind = 'primary',
  children,
}: PasskeyFormProps) {
  const { origin } = relyingPartyOf(context.addresses.clientBaseUrl);
  return (
    <div id={`passkey-${purpose}`} data-passkey={purpose} data-origin={origin} hidden>
      <Form action={action}>
        {children}
        <input type="hidden" name="credential" value="" />
        <Button kind={kind} icon="fingerprint">
          {label}
        </Button>
      </Form>
      <p class="hint" data-elsewhere hidden>
        {MESSAGES.passkeys.otherOrigin} <a href={origin}>{origin}</a>.
      </p>
      <p class="error" aria-live="polite"></p>
    </div>
  );
}

export function PasskeySignIn({ context, returnTo }: { context: Context; returnTo: string | undefined }) {
  return (
    <PasskeyForm
      context={context}
      purpose="sign-in"
      action="/sign-in/passkey"
      label={MESSAGES.passkeys.signIn}
      kind="plain"
    >
      <input type="hidden" name="to" value={safeReturnPath(returnTo)} />
    </PasskeyForm>
  );
}
