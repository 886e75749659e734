import { MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import type { Context } from '../runtime/context.ts';
import type { ListedPasskey } from '../domain/sign-in/passkeys.ts';
import type { SecondFactors } from '../domain/sign-in/second-factors.ts';
import { Button, Field, Form } from '../pages/forms.tsx';
import { RelativeTime } from '../pages/relative-time.tsx';
import { PasskeyForm } from './passkey-form.tsx';

export const SECURITY_PATH = '/account/security';
export const CONFIRM_PATH = `${SECURITY_PATH}/confirm`;
export const MAX_PASSKEY_NAME_LENGTH = 60;

interface ConfirmIdentityFormProps {
  context: Context;
  factors: SecondFactors;
  /** Whether the account has a password. */
  password: boolean;
  refused: string | undefined;
}

/** Asks whoever signed in a while ago to prove again who they are: by a password, a code or a passkey. */
export function ConfirmIdentityForm({ context, factors, password, refused }: ConfirmIdentityFormProps) {
  const labels = [...(password ? ['your password'] : []), ...(factors.totp ? ['a code of your app'] : [])];
  return (
    <section>
      <h2>Confirm that it is you</h2>
      <p>
        You signed in more than ten minutes ago. Prove again who you are, and you can change what is below.
      </p>
      {labels.length > 0 && (
        <Form action={CONFIRM_PATH}>
          <Field
            name="proof"
            label={labels.join(', or ').replace(/^./, (letter) => letter.toUpperCase())}
            type="password"
            error={refused}
            autocomplete="current-password"
            maxLength={MAX_TYPED_PASSWORD_LENGTH}
          />
          <Button>Confirm</Button>
        </Form>
      )}
      {factors.passkeys > 0 && (
        <PasskeyForm
          context={context}
          purpose="confirm"
          action={`${CONFIRM_PATH}/passkey`}
          label="Confirm with a passkey"
          kind="plain"
        />
      )}
      {labels.length === 0 && <p>Sign out and sign in again: your account has no password to ask for.</p>}
    </section>
  );
}

/** The authenticator app: whether there is one, and what can be done about it. */
export function AuthenticatorSection({ factors, recent }: { factors: SecondFactors; recent: boolean }) {
  return (
    <section>
      <h2>Authenticator app</h2>
      {factors.totp ? (
        <>
          <p>An authenticator app is set up: a sign-in with the password asks for its code.</p>
          {recent && (
            <Form action={`${SECURITY_PATH}/authenticator/remove`}>
              <Button kind="danger">Remove the authenticator app</Button>
            </Form>
          )}
        </>
      ) : (
        <>
          <p>
            {factors.required && factors.passkeys === 0
              ? 'Your organization requires a second factor. '
              : 'None is set up. '}
            An app on your phone shows a code that a sign-in asks for, beside the password.
          </p>
          {recent && (
            <a class="button plain" href={`${SECURITY_PATH}/authenticator`}>
              Set up an authenticator app
            </a>
          )}
        </>
      )}
    </section>
  );
}

/** The passkeys, and a form for another one. */
export function PasskeysSection({
  context,
  passkeys,
  recent,
}: {
  context: Context;
  passkeys: readonly ListedPasskey[];
  recent: boolean;
}) {
  return (
    <section>
      <h2>Passkeys</h2>
      <p>
        A passkey is a key on your device, opened with your fingerprint, your face or a PIN. It signs you in
        alone, without a password and a code.
      </p>
      {passkeys.length > 0 && (
        <ul class="rows">
          {passkeys.map((passkey) => (
            <Passkey key={passkey.id} {...passkey} recent={recent} />
          ))}
        </ul>
      )}
      {recent && (
        <>
          <PasskeyForm
            context={context}
            purpose="add"
            action={`${SECURITY_PATH}/passkeys`}
            label="Add a passkey"
            kind="plain"
          >
            <Field
              name="name"
              label="Name of the new passkey"
              hint="So that you recognise it: where it is kept, for example."
              value="Passkey"
              autocomplete="off"
              maxLength={MAX_PASSKEY_NAME_LENGTH}
            />
          </PasskeyForm>
          <noscript>
            <p>To add a passkey, turn on JavaScript.</p>
          </noscript>
        </>
      )}
    </section>
  );
}

function Passkey({
  id,
  name,
  createdAt,
  lastUsedAt,
  lastUsedFrom,
  recent,
}: ListedPasskey & { recent: boolean }) {
  return (
    <li>
      <div class="what">
        <p>
          <strong>{name}</strong>
        </p>
        <p class="hint">
          Added <RelativeTime at={createdAt} />.{' '}
          {lastUsedAt === null ? (
            'Not used yet.'
          ) : (
            <>
              Last used <RelativeTime at={lastUsedAt} />
              {lastUsedFrom !== null && ` from ${lastUsedFrom}`}.
            </>
          )}
        </p>
      </div>
      {recent && (
        <Form action={`${SECURITY_PATH}/passkeys/remove`}>
          <input type="hidden" name="passkey" value={id} />
          <Button kind="danger" label={`Remove the passkey ${name}`}>
            Remove
          </Button>
        </Form>
      )}
    </li>
  );
}

/** How many recovery codes are left. */
export function RecoveryCodesSection({ factors, recent }: { factors: SecondFactors; recent: boolean }) {
  const { recoveryCodes: left } = factors;
  return (
    <section>
      <h2>Recovery codes</h2>
      <p>
        {left === 0 ? 'No code is left.' : left === 1 ? '1 code is left.' : `${left} codes are left.`} Each
        gets you in once when you do not have your second factor at hand.
      </p>
      {recent && (
        <Form action={`${SECURITY_PATH}/recovery-codes`}>
          <p class="hint">New codes replace the old ones, which then no longer work.</p>
          <Button kind="plain">Make new recovery codes</Button>
        </Form>
      )}
    </section>
  );
}
