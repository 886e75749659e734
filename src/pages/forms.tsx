import { type ComponentChildren, createContext, type InputHTMLAttributes } from 'preact';
import { useContext } from 'preact/hooks';

/** The token that every form of a page sends back (see `sendPage`). */
export const CsrfToken = createContext('');

interface FormProps {
  /** Where it is sent; the page's own address unless told. */
  action?: string;
  class?: string;
  id?: string;
  children: ComponentChildren;
}

/** A form that is sent with POST, with the token that proves that it is one of ours. */
export function Form({ children, ...attributes }: FormProps) {
  return (
    <form method="post" {...attributes}>
      <input type="hidden" name="_csrf" value={useContext(CsrfToken)} />
      {children}
    </form>
  );
}

interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'email' | 'password';
  value?: string | undefined;
  /** What to type, in a line under the label. */
  hint?: ComponentChildren;
  /** What is wrong with what was typed. */
  error?: string | undefined;
  /** What the browser may fill in (HTML, autofill detail tokens). */
  autocomplete: string;
  inputmode?: 'numeric' | 'email' | 'text';
  required?: boolean;
  autofocus?: boolean;
  minLength?: number;
  maxLength: number;
}

/** A labelled text field, with its hint and its error told to screen readers as well. */
export function Field({ name, label, type = 'text', hint, error, required = true, ...rest }: FieldProps) {
  // The types know one set of attributes for each kind of input.
  const attributes = { type, ...rest } as InputHTMLAttributes;
  const told = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(error === undefined ? [] : [`${name}-error`]),
  ];
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="error" id={`${name}-error`}>
          {error}
        </p>
      )}
      <input
        id={name}
        name={name}
        required={required}
        aria-invalid={error === undefined ? undefined : 'true'}
        aria-describedby={told.length === 0 ? undefined : told.join(' ')}
        {...attributes}
      />
    </div>
  );
}

interface SelectProps {
  name: string;
  label: string;
  /** Values and their words. */
  options: Readonly<Record<string, string>>;
  value: string;
}

/** A labelled list to choose one of. */
export function Select({ name, label, options, value }: SelectProps) {
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {Object.entries(options).map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface CheckboxProps {
  name: string;
  value: string;
  checked: boolean;
  isRadio?: boolean;
  children: ComponentChildren;
}

/** A checkbox with its words; with `one`, one of several that exclude each other. */
export function Checkbox({ name, value, checked, isRadio = false, children }: CheckboxProps) {
  return (
    <label class="choice">
      <input type={isRadio ? 'radio' : 'checkbox'} name={name} value={value} checked={checked} />
      <span>{children}</span>
    </label>
  );
}

interface ButtonProps {
  kind?: 'primary' | 'plain' | 'danger';
  name?: string;
  value?: string;
  /** What a screen reader says, where the words alone do not tell which one it is. */
  label?: string;
  children: ComponentChildren;
}

/** A button that sends its form. */
export function Button({ kind = 'primary', name, value, label, children }: ButtonProps) {
  return (
    <button type="submit" class={kind} name={name} value={value} aria-label={label}>
      {children}
    </button>
  );
}

/** A message above a form: what went wrong, or what was done. */
export function Notice({
  kind,
  children,
}: {
  kind: 'error' | 'success' | 'info';
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}
