import { type Scope, SCOPES } from '../auth/scopes.ts';
import { describeFieldProblem, type FieldError } from '../domain/shared/errors.ts';
import { MAX_NAME_LENGTH } from '../domain/shared/names.ts';
import { Button, Checkbox, Field, Form, Select } from '../pages/forms.tsx';

/** Days, and their words. */
export const EXPIRIES = {
  '30': 'In 30 days',
  '90': 'In 90 days',
  '365': 'In one year',
  never: 'Never',
} as const;

export const MAX_ADDRESSES_LENGTH = 2_500;

/** What a token may do, before single scopes are chosen: those that only read, all that the account may, or the ticked. */
export type ScopePreset = 'read' | 'all' | 'chosen';

/** What was typed. */
export interface TokenFields {
  name: string;
  /** `undefined` as long as nothing is chosen. */
  preset: ScopePreset | undefined;
  scopes: readonly string[];
  expires: string;
  /** Separated by space or commas. */
  addresses: string;
}

interface TokenFormProps {
  action: string;
  /** What the account may hold. */
  held: readonly Scope[];
  fields: TokenFields;
  faults: readonly FieldError[];
  /** Whether operations 8 and 9 take scopes that read, as the specification has it. */
  readingScopesTag: boolean;
}

/** The form of a new personal access token. */
export function TokenForm({ action, held, fields, faults, readingScopesTag }: TokenFormProps) {
  const errorOf = (property: string, what: string): string | undefined => {
    const fault = faults.find((candidate) => candidate.property.split('.')[0] === property);
    if (fault === undefined) return undefined;
    // Of several, the one that is wrong.
    return fault.property !== property && typeof fault.value === 'string'
      ? `“${fault.value}” ${describeFieldProblem(fault)}.`
      : `${what} ${describeFieldProblem(fault)}.`;
  };
  const scopesError =
    fields.scopes.length === 0 && faults.some(({ property }) => property === 'scopes')
      ? 'Choose what the token may do.'
      : errorOf('scopes', 'The token');
  return (
    <Form action={action}>
      <Field
        name="name"
        label="Name"
        hint="By which you know it again, such as the program that uses it."
        autocomplete="off"
        value={fields.name}
        error={errorOf('name', 'The name')}
        maxLength={MAX_NAME_LENGTH}
      />
      <fieldset aria-describedby={scopesError === undefined ? undefined : 'scopes-error'}>
        <legend>What it may do</legend>
        {scopesError !== undefined && (
          <p class="error" id="scopes-error">
            {scopesError}
          </p>
        )}
        <Checkbox isRadio name="preset" value="read" checked={fields.preset === 'read'}>
          Read everything
          <span class="hint">
            The tags and assets that you may read. The rest of the API is not in this, as its one scope also
            changes things.
            {readingScopesTag && ' Scopes that read may also put tags on assets: the specification says so.'}
          </span>
        </Checkbox>
        <Checkbox isRadio name="preset" value="all" checked={fields.preset === 'all'}>
          All I may do
          <span class="hint">Whoever has the token can do what you can.</span>
        </Checkbox>
        <Checkbox isRadio name="preset" value="chosen" checked={fields.preset === 'chosen'}>
          Only what I choose
        </Checkbox>
        <div class="chosen">
          {held.map((scope) => (
            <Checkbox key={scope} name="scopes" value={scope} checked={fields.scopes.includes(scope)}>
              {SCOPES[scope]} <code>{scope}</code>
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <Select name="expires" label="Expires" options={EXPIRIES} value={fields.expires} />
      <Field
        name="addresses"
        label="Only from these addresses"
        hint="IP addresses or blocks such as 10.0.0.0/8, separated by spaces. Empty allows every address."
        autocomplete="off"
        value={fields.addresses}
        error={errorOf('allowedAddresses', 'The addresses')}
        required={false}
        maxLength={MAX_ADDRESSES_LENGTH}
      />
      <Button>Make the token</Button>
    </Form>
  );
}
