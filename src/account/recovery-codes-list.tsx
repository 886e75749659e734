import { CopyField } from '../pages/copy-field.tsx';
import { Notice } from '../pages/forms.tsx';
import { MESSAGES } from './messages.ts';

/** Recovery codes, the one time that they are shown. */
export function RecoveryCodes({
  done,
  codes,
  next,
}: {
  /** What was done. */
  done: string;
  codes: readonly string[];
  /** Where it goes on from here. */
  next: { href: string; label: string };
}) {
  return (
    <>
      <Notice kind="success">
        {done} {MESSAGES.recoveryCodes.saveThem}
      </Notice>
      <section>
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
