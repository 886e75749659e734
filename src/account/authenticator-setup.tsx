import type { ComponentChildren } from 'preact';
import { Type } from 'typebox';
import { encode } from 'uqr';
import { encryptSecret, decryptSecret } from '../auth/encrypt-secret.ts';
import type { Context } from '../context.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { MAX_CODE_LENGTH, generateTotpSecret, totpUri } from '../domain/sign-in/totp.ts';
import { SecretField } from '../page-kit/copy-field.tsx';
import { Button, Field, Form } from '../page-kit/forms.tsx';
import { MESSAGES } from './messages.ts';

const PURPOSE = 'totp set-up';
/** Milliseconds from the QR code to the first code. */
const LIFETIME = 900_000;

export const SetupSchema = Type.String({ maxLength: 512 });
export const CodeSchema = Type.String({ maxLength: MAX_CODE_LENGTH });

/** A secret that is being set up. The form for the first code carries it encrypted. */
interface AuthenticatorSetup {
  field: string;
  secret: string;
}

interface PendingSetup {
  secret: string;
  session: string;
  endsAt: number;
}

/** @returns a new secret, valid in this session for 15 minutes */
export function createAuthenticatorSetup({ keys, clock }: Context, session: Session): AuthenticatorSetup {
  const secret = generateTotpSecret();
  const pending: PendingSetup = { secret, session: session.id, endsAt: clock() + LIFETIME };
  return { secret, field: encryptSecret(keys.secret, PURPOSE, JSON.stringify(pending)) };
}

/** @returns the secret of a setup field; `undefined` if it belongs to another session or has expired */
export function openAuthenticatorSetup(
  { keys, clock }: Context,
  session: Session,
  field: string,
): string | undefined {
  const text = decryptSecret(keys.secret, PURPOSE, field);
  if (text === undefined) return undefined;
  const { secret, session: id, endsAt } = JSON.parse(text) as PendingSetup;
  return id === session.id && clock() < endsAt ? secret : undefined;
}

interface AuthenticatorFormProps {
  action: string;
  /** New, or the one of a rejected form. */
  setup: AuthenticatorSetup;
  email: string;
  isRejected: boolean;
  children?: ComponentChildren;
}

/** Shows the secret to scan, and asks for the first code. */
export function AuthenticatorForm({ action, setup, email, isRejected, children }: AuthenticatorFormProps) {
  return (
    <Form action={action}>
      <p>{MESSAGES.authenticator.scan}</p>
      <QrCode text={totpUri(setup.secret, email)} />
      <p>{MESSAGES.authenticator.enterKey}</p>
      <SecretField
        text={(setup.secret.match(/.{1,4}/g) ?? []).join(' ')}
        label={MESSAGES.authenticator.copyKey}
        id="totp-secret"
      />
      {children}
      <input type="hidden" name="set_up" value={setup.field} />
      <Field
        name="code"
        label="Code"
        hint={MESSAGES.authenticator.codeHint}
        error={isRejected ? MESSAGES.authenticator.wrongCode : undefined}
        autocomplete="one-time-code"
        inputmode="numeric"
        maxLength={MAX_CODE_LENGTH}
      />
      <Button>{MESSAGES.authenticator.turnOn}</Button>
    </Form>
  );
}

/** An inline QR code, dark on light in every theme, as scanners expect. */
function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={MESSAGES.authenticator.qrCode}
      shape-rendering="crispEdges"
    >
      <path d={squares.join('')} />
    </svg>
  );
}
