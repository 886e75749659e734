import { type ComponentChildren, createContext, type InputHTMLAttributes } from 'preact';
import { useContext } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

/** The token that every form sends back (see `sendHtmlPage`). */
export const CsrfToken = createContext('');

interface FormProps {
  /** Defaults to the URL of the page. */
  action?: string;
  class?: string;
  id?: string;
  children: ComponentChildren;
}

/** A POST form with the token against cross-site request forgery. */
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
  hint?: ComponentChildren;
  error?: string | undefined;
  /** A link beside the label. */
  link?: ComponentChildren;
  /** An autofill detail token of HTML. */
  autocomplete: string;
  inputmode?: 'numeric' | 'email' | 'text';
  required?: boolean;
  autofocus?: boolean;
  minLength?: number;
  maxLength: number;
}

/** A labelled text field whose hint and error are announced by screen readers. */
export function Field({
  name,
  label,
  type = 'text',
  hint,
  error,
  link,
  required = true,
  ...rest
}: FieldProps) {
  // The types have a separate set of attributes for each input type.
  const attributes = { type, ...rest } as InputHTMLAttributes;
  const descriptions = [
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
        aria-describedby={descriptions.length === 0 ? undefined : descriptions.join(' ')}
        {...attributes}
      />
      {/* After the field in the order of the Tab key. */}
      {link}
    </div>
  );
}

interface SelectProps {
  name: string;
  label: string;
  /** Labels by value. */
  options: Readonly<Record<string, string>>;
  value: string;
}

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

/** A checkbox, or a radio button with `isRadio`. */
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
  /** The accessible name, where the text alone is ambiguous. */
  label?: string;
  icon?: IconName | undefined;
  children: ComponentChildren;
}

export function Button({ kind = 'primary', name, value, label, icon, children }: ButtonProps) {
  return (
    <button type="submit" class={`button ${kind}`} name={name} value={value} aria-label={label}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

const NOTICE_ICONS = { error: 'alert', warning: 'alert', success: 'check', info: 'info' } as const;

interface NoticeProps {
  /** A warning is part of the page and does not announce itself. */
  kind: keyof typeof NOTICE_ICONS;
  children: ComponentChildren;
}

export function Notice({ kind, children }: NoticeProps) {
  const role = { error: 'alert', warning: undefined, success: 'status', info: 'status' } as const;
  return (
    <div class={`notice ${kind}`}>
      <Icon name={NOTICE_ICONS[kind]} />
      <div role={role[kind]}>{children}</div>
    </div>
  );
}
