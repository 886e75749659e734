import { CopyField } from '../pages/copy-field.tsx';
import { Notice } from '../pages/forms.tsx';

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
      <Notice kind="success">{done} Keep the recovery codes below.</Notice>
      <section>
        <p>
          Each of these codes gets you in once when you do not have your second factor at hand. Print them or
          put them into a password manager now: they are not shown again.
        </p>
        <CopyField text={codes.join('\n')} label="Copy the recovery codes">
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
