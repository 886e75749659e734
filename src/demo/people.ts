const FIRST_NAMES = words(
  'Amara Anton Beatriz Chidi Clara Daniel Dilara Elif Emil Farah Gabriel Hana Ines Jonas Kavya Leila Lukas Mateo Mina ' +
    'Nadia Noor Oskar Priya Rosa Samuel Selma Tariq Vera Wei Yara',
);
const LAST_NAMES = words(
  'Adeyemi Almeida Bergstrom Castillo Chen Dubois Eriksen Fischer Garcia Haddad Ivanova Jansen Kowalski Laurent Moreau ' +
    'Nakamura Okafor Petrov Quist Rahman Santos Tanaka Ueda Vasquez Weber Yilmaz Zhang',
);

export interface DemoPerson {
  name: string;
  email: string;
}

/** Returns `count` people. Names and email addresses repeat after 270. */
export function createPeople(domain: string, count: number): DemoPerson[] {
  return Array.from({ length: count }, (_, index) => {
    // With 30 first and 27 last names, the first pair repeats after 270 people.
    const first = FIRST_NAMES[index % FIRST_NAMES.length] as string;
    const last = LAST_NAMES[(index * 4) % LAST_NAMES.length] as string;
    return { name: `${first} ${last}`, email: `${first}.${last}@${domain}`.toLowerCase() };
  });
}

function words(text: string): readonly string[] {
  return text.split(' ');
}
