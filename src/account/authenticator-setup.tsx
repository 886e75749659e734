import type { ComponentChildren } from 'preact';
import { Type } from 'typebox';
import { encode } from 'uqr';
import { seal, unseal } from '../auth/sealing.ts';
import type { Context } from '../runtime/context.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import { MAX_CODE_LENGTH, generateTotpSecret, totpUri } from '../domain/sign-in/totp.ts';
import { SecretField } from '../pages/copy-field.tsx';
import { Button, Field, Form } from '../pages/forms.tsx';
import { MESSAGES } from './messages.ts';

const SEALED_FOR = 'totp set-up';
/** How long it may take from the QR code to the first code. */
const LIFETIME = 900_000;

export const SetupSchema = Type.String({ maxLength: 512 });
export const CodeSchema = Type.String({ maxLength: MAX_CODE_LENGTH });

/** A secret that is on its way into an app. The form that asks for the first code carries it, sealed. */
export interface AuthenticatorSetup {
  field: string;
  secret: string;
}

interface Sealed {
  secret: string;
  session: string;
  endsAt: number;
}

/** @returns a new secret, good in this session for a quarter of an hour */
export function createAuthenticatorSetup({ keys, clock }: Context, session: Session): AuthenticatorSetup {
  const secret = generateTotpSecret();
  const sealed: Sealed = { secret, session: session.id, endsAt: clock() + LIFETIME };
  return { secret, field: seal(keys.secret, SEALED_FOR, JSON.stringify(sealed)) };
}

/** @returns the secret of a set-up field; `undefined` when it is of another session, or too old */
export function openAuthenticatorSetup(
  { keys, clock }: Context,
  session: Session,
  field: string,
): string | undefined {
  const text = unseal(keys.secret, SEALED_FOR, field);
  if (text === undefined) return undefined;
  const { secret, session: id, endsAt } = JSON.parse(text) as Sealed;
  return id === session.id && clock() < endsAt ? secret : undefined;
}

interface AuthenticatorFormProps {
  action: string;
  /** A new one, or the one that the form had. */
  setup: AuthenticatorSetup;
  email: string;
  /** Whether a code was wrong. */
  refused: boolean;
  /** Further fields. */
  children?: ComponentChildren;
}

/** The form that puts a secret into an authenticator app and asks for the first code. */
export function AuthenticatorForm({ action, setup, email, refused, children }: AuthenticatorFormProps) {
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
        error={refused ? MESSAGES.authenticator.wrongCode : undefined}
        autocomplete="one-time-code"
        inputmode="numeric"
        maxLength={MAX_CODE_LENGTH}
      />
      <Button>{MESSAGES.authenticator.turnOn}</Button>
    </Form>
  );
}

/** A QR code as a picture within the page, dark on light in every theme, as apps want it. */
function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: 4 });
  const squares = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
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
