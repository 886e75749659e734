import type { ComponentChildren } from 'preact';

interface CopyFieldProps {
  text: string;
  /** The accessible name of the button. */
  label: string;
  children: ComponentChildren;
}

/** A text with a copy button where scripts run. A script that is named twice on a page runs once. */
export function CopyField({ text, label, children }: CopyFieldProps) {
  return (
    <div class="copyable" data-copy={text} data-label={label}>
      {children}
      <script type="module" src="/assets/copy.js"></script>
    </div>
  );
}

/** A secret on a line of its own, which one click selects. */
export function SecretField({ text, label, id }: { text: string; label: string; id?: string }) {
  return (
    <CopyField text={text} label={label}>
      <code class="secret" id={id}>
        {text}
      </code>
    </CopyField>
  );
}
