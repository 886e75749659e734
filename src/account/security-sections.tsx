import { MAX_TYPED_PASSWORD_LENGTH } from '../auth/passwords.ts';
import type { Context } from '../context.ts';
import type { ListedPasskey } from '../domain/sign-in/passkeys.ts';
import { hasSecondFactor, type SecondFactors } from '../domain/sign-in/second-factors.ts';
import { Button, Field, Form, Notice } from '../page-kit/forms.tsx';
import { Icon } from '../page-kit/icons.tsx';
import { safeReturnPath } from '../page-kit/paths.ts';
import { RelativeTime } from '../page-kit/relative-time.tsx';
import { Section } from '../page-kit/section.tsx';
import { PasskeyForm } from './passkey-form.tsx';
import { LastUse } from './last-use.tsx';
import { MESSAGES } from './messages.ts';

export const SECURITY_PATH = '/account/security';
/** The page on which the user confirms their identity and then goes to a path. */
export const confirmIdentityPath = (returnTo: string): string =>
  `${SECURITY_PATH}?to=${encodeURIComponent(returnTo)}`;
export const CONFIRM_PATH = `${SECURITY_PATH}/confirm`;
export const MAX_PASSKEY_NAME_LENGTH = 60;

interface ConfirmIdentityFormProps {
  context: Context;
  factors: SecondFactors;
  /** Whether the account has a password. */
  password: boolean;
  error: string | undefined;
  /** Where the user goes afterwards; `undefined` for the security page. */
  returnTo: string | undefined;
}

/** Asks for the second factor or a recovery code, or for the password of an account without a second factor. */
export function ConfirmIdentityForm({
  context,
  factors,
  password,
  error,
  returnTo,
}: ConfirmIdentityFormProps) {
  const returnToField = returnTo !== undefined && (
    <input type="hidden" name="to" value={safeReturnPath(returnTo)} />
  );
  const hasFactor = hasSecondFactor(factors);
  const labels = hasFactor
    ? [
        ...(factors.totp ? [MESSAGES.security.appCode] : []),
        ...(factors.recoveryCodes > 0 ? [MESSAGES.security.recoveryCode] : []),
      ]
    : password
      ? [MESSAGES.security.yourPassword]
      : [];
  return (
    <Section title={MESSAGES.security.confirmTitle} hint={MESSAGES.security.confirmIntro}>
      {labels.length > 0 && (
        <Form action={CONFIRM_PATH}>
          {returnToField}
          <Field
            name="proof"
            label={labels.join(', or ').replace(/^./, (letter) => letter.toUpperCase())}
            type={hasFactor ? 'text' : 'password'}
            error={error}
            autocomplete={hasFactor ? 'one-time-code' : 'current-password'}
            maxLength={MAX_TYPED_PASSWORD_LENGTH}
          />
          <Button>Confirm</Button>
        </Form>
      )}
      {factors.passkeys > 0 && (
        <>
          {labels.length === 0 && error !== undefined && <p class="error">{error}</p>}
          <PasskeyForm
            context={context}
            purpose="confirm"
            action={`${CONFIRM_PATH}/passkey`}
            label={MESSAGES.security.confirmPasskey}
            kind="plain"
          >
            {returnToField}
          </PasskeyForm>
          <noscript>
            <p>{MESSAGES.secondFactor.needsJavaScript}</p>
          </noscript>
        </>
      )}
      {!hasFactor && !password && <p>{MESSAGES.security.signInAgain}</p>}
    </Section>
  );
}

interface SecondFactorSectionProps {
  factors: SecondFactors;
  /** Whether the account has a password. */
  password: boolean;
  /** Whether the account must have a second factor. */
  required: boolean;
  /** Whether the user signed in, or confirmed their identity, recently enough for changes. */
  recent: boolean;
}

export function SecondFactorSection({ factors, password, required, recent }: SecondFactorSectionProps) {
  const hasFactor = hasSecondFactor(factors);
  return (
    <Section title={MESSAGES.security.secondFactor} hint={MESSAGES.security.secondFactorHint}>
      {!hasFactor && password && (
        <Notice kind="warning">{required ? MESSAGES.security.required : MESSAGES.security.noneSetUp}</Notice>
      )}
      <ul class="rows">
        <AuthenticatorRow factors={factors} recent={recent} />
        {hasFactor && <RecoveryCodesRow factors={factors} recent={recent} />}
      </ul>
    </Section>
  );
}

interface FactorProps {
  factors: SecondFactors;
  recent: boolean;
}

function AuthenticatorRow({ factors, recent }: FactorProps) {
  return (
    <li>
      <Icon name="phone" />
      <div class="what">
        <h3>{MESSAGES.security.app}</h3>
        <p class="hint">{factors.totp ? MESSAGES.security.appOn : MESSAGES.security.appOff}</p>
      </div>
      {recent &&
        (factors.totp ? (
          <Form action={`${SECURITY_PATH}/authenticator/remove`}>
            <Button kind="danger">{MESSAGES.security.removeApp}</Button>
          </Form>
        ) : (
          <a
            class={`button ${hasSecondFactor(factors) ? 'plain' : 'primary'}`}
            href={`${SECURITY_PATH}/authenticator`}
            aria-label={MESSAGES.security.setUpApp}
          >
            {MESSAGES.security.setUp}
          </a>
        ))}
    </li>
  );
}

function RecoveryCodesRow({ factors: { recoveryCodes: codesLeft }, recent }: FactorProps) {
  return (
    <li>
      <Icon name="file" />
      <div class="what">
        <h3>{MESSAGES.security.recoveryCodes}</h3>
        <p class="hint">
          {codesLeft === 0
            ? MESSAGES.security.noCodes
            : codesLeft === 1
              ? MESSAGES.security.oneCode
              : MESSAGES.security.codesLeft(codesLeft)}{' '}
          {MESSAGES.security.codesIntro} {recent && MESSAGES.security.codesReplaced}
        </p>
      </div>
      {recent && (
        <Form action={`${SECURITY_PATH}/recovery-codes`}>
          <Button kind="plain">{MESSAGES.security.generateCodes}</Button>
        </Form>
      )}
    </li>
  );
}

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
    <Section title={MESSAGES.security.passkeys} hint={MESSAGES.security.passkeysIntro}>
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
            label={MESSAGES.security.addPasskey}
            kind="plain"
          >
            <Field
              name="name"
              label={MESSAGES.security.passkeyName}
              hint={MESSAGES.security.passkeyNameHint}
              value="Passkey"
              autocomplete="off"
              maxLength={MAX_PASSKEY_NAME_LENGTH}
            />
          </PasskeyForm>
          <noscript>
            <p>{MESSAGES.security.passkeyNeedsJavaScript}</p>
          </noscript>
        </>
      )}
    </Section>
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
      <Icon name="fingerprint" />
      <div class="what">
        <h3>{name}</h3>
        <p class="hint">
          Added <RelativeTime at={createdAt} />. <LastUse at={lastUsedAt} address={lastUsedFrom} />
        </p>
      </div>
      {recent && (
        <Form action={`${SECURITY_PATH}/passkeys/remove`}>
          <input type="hidden" name="passkey" value={id} />
          <Button kind="danger" label={MESSAGES.security.removePasskeyNamed(name)}>
            Remove
          </Button>
        </Form>
      )}
    </li>
  );
}
