import { CopyField } from '../page-kit/copy-field.tsx';
import { Notice } from '../page-kit/forms.tsx';
import { MESSAGES } from './messages.ts';

/** Shows recovery codes, once. */
export function RecoveryCodes({
  done,
  codes,
  next,
}: {
  /** The confirmation above the codes. */
  done: string;
  codes: readonly string[];
  next: { href: string; label: string };
}) {
  return (
    <>
      <Notice kind="success">
        {done} {MESSAGES.recoveryCodes.saveThem}
      </Notice>
      <section class="stack">
        <p>{MESSAGES.recoveryCodes.intro}</p>
        <CopyField text={codes.join('\n')} label={MESSAGES.recoveryCodes.copy}>
          <ol class="codes" id="recovery-codes">
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ol>
        </CopyField>
        <p>
          <a class="button primary" href={next.href}>
            {next.label}
          </a>
        </p>
      </section>
    </>
  );
}
