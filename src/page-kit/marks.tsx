import { hueOf, initialsOf } from '#client';

interface MarkProps {
  /** Determines the colour, as in the console. */
  id: number;
  name: string;
}

/** A circle with the initials of a person, beside their name. */
export function PersonMark({ id, name }: MarkProps) {
  return <InitialsMark shape="person" id={id} name={name} />;
}

/** A square with the initials of an organization, beside its name. */
export function OrganizationMark({ id, name }: MarkProps) {
  return <InitialsMark shape="organization" id={id} name={name} />;
}

function InitialsMark({ shape, id, name }: MarkProps & { shape: string }) {
  return (
    // The stylesheet shows the letters: they are no text of a link around them.
    <span class={`mark ${shape}`} data-hue={hueOf(id)} data-letter={initialsOf(name)} aria-hidden="true" />
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d="M12 2 20 5v6c0 5.2-3.3 9-8 11-4.7-2-8-5.8-8-11V5z" />
      <path class="tick" d="m8 12 3 3 5-6" />
    </svg>
  );
}
