import type { ComponentChildren } from 'preact';

interface SectionProps {
  title: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of an account page: its name on the left, its controls on the right. */
export function Section({ title, hint, children }: SectionProps) {
  return (
    <section class="setting">
      <div>
        <h2>{title}</h2>
        {hint !== undefined && <p class="hint">{hint}</p>}
      </div>
      <div class="stack">{children}</div>
    </section>
  );
}
