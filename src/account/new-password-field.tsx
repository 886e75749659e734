import { MAX_TYPED_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../auth/passwords.ts';
import { Field } from '../page-kit/forms.tsx';
import { MESSAGES } from './messages.ts';

interface NewPasswordFieldProps {
  /** The username, for password managers. */
  email: string;
  label: string;
  error: string | undefined;
  autofocus?: boolean;
}

/** The field for a new password. Its hint states all rules that a user can follow. */
export function NewPasswordField({ email, label, error, autofocus = false }: NewPasswordFieldProps) {
  return (
    <>
      <input type="text" name="username" value={email} autocomplete="username" readonly hidden />
      <Field
        name="password"
        label={label}
        type="password"
        autocomplete="new-password"
        hint={MESSAGES.password.hint(MIN_PASSWORD_LENGTH)}
        error={error}
        maxLength={MAX_TYPED_PASSWORD_LENGTH}
        autofocus={autofocus}
      />
    </>
  );
}
