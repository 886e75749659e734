import { type Scope, SCOPES } from '../auth/scopes.ts';
import { fieldErrorMessage, type FieldError } from '../domain/shared/errors.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import { Button, Checkbox, Field, Form, Select } from '../page-kit/forms.tsx';
import { MESSAGES } from './messages.ts';

/** Lifetimes by their days. */
export const EXPIRIES = {
  '30': MESSAGES.tokens.in30Days,
  '90': MESSAGES.tokens.in90Days,
  '365': MESSAGES.tokens.inOneYear,
  never: 'Never',
} as const;

export const MAX_ADDRESSES_LENGTH = 2_500;

/** The scopes of a token: those that only read, all that the account may hold, or the selected ones. */
export type ScopePreset = 'read' | 'all' | 'chosen';

export interface TokenFields {
  name: string;
  /** `undefined` until one is selected. */
  preset: ScopePreset | undefined;
  scopes: readonly string[];
  expires: string;
  /** Separated by spaces or commas. */
  addresses: string;
}

interface TokenFormProps {
  action: string;
  allowed: readonly Scope[];
  fields: TokenFields;
  errors: readonly FieldError[];
  /** Whether read scopes can tag assets (operations 8 and 9), as the specification says. */
  readingScopesTag: boolean;
}

export function TokenForm({ action, allowed, fields, errors, readingScopesTag }: TokenFormProps) {
  const errorOf = (property: string, subject: string): string | undefined => {
    const error = errors.find((candidate) => candidate.property.split('.')[0] === property);
    if (error === undefined) return undefined;
    // Names the invalid one of several values.
    return error.property !== property && typeof error.value === 'string'
      ? `“${error.value}” ${fieldErrorMessage(error)}.`
      : `${subject} ${fieldErrorMessage(error)}.`;
  };
  const scopesError =
    fields.scopes.length === 0 && errors.some(({ property }) => property === 'scopes')
      ? MESSAGES.tokens.chooseScopes
      : errorOf('scopes', MESSAGES.tokens.theToken);
  return (
    <Form action={action}>
      <Field
        name="name"
        label="Name"
        hint={MESSAGES.tokens.nameHint}
        autocomplete="off"
        value={fields.name}
        error={errorOf('name', MESSAGES.tokens.theName)}
        maxLength={MAX_NAME_LENGTH}
      />
      <fieldset aria-describedby={scopesError === undefined ? undefined : 'scopes-error'}>
        <legend>{MESSAGES.tokens.permissions}</legend>
        {scopesError !== undefined && (
          <p class="error" id="scopes-error">
            {scopesError}
          </p>
        )}
        <Checkbox isRadio name="preset" value="read" checked={fields.preset === 'read'}>
          {MESSAGES.tokens.readAll}
          <span class="hint">
            {MESSAGES.tokens.readAllHint}
            {readingScopesTag && MESSAGES.tokens.readScopesTag}
          </span>
        </Checkbox>
        <Checkbox isRadio name="preset" value="all" checked={fields.preset === 'all'}>
          {MESSAGES.tokens.allScopes}
          <span class="hint">{MESSAGES.tokens.allScopesHint}</span>
        </Checkbox>
        <Checkbox isRadio name="preset" value="chosen" checked={fields.preset === 'chosen'}>
          {MESSAGES.tokens.chosenScopes}
        </Checkbox>
        <div class="scopes">
          {allowed.map((scope) => (
            <Checkbox key={scope} name="scopes" value={scope} checked={fields.scopes.includes(scope)}>
              {SCOPES[scope]} <code>{scope}</code>
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <Select name="expires" label="Expires" options={EXPIRIES} value={fields.expires} />
      <Field
        name="addresses"
        label={MESSAGES.tokens.addresses}
        hint={MESSAGES.tokens.addressesHint}
        autocomplete="off"
        value={fields.addresses}
        error={errorOf('allowedAddresses', MESSAGES.tokens.theAddresses)}
        required={false}
        maxLength={MAX_ADDRESSES_LENGTH}
      />
      <Button>{MESSAGES.tokens.create}</Button>
    </Form>
  );
}
