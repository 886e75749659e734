// Lets the browser fill in the forms that ask for a passkey. Without this, or in a browser that cannot, they stay hidden.

const CANNOT_ASK = 'The server did not say what to ask your device. Load the page again, and try once more.';
const WORDS = {
  NotAllowedError:
    'Nothing came from your device: it was cancelled, took too long, or has no passkey for this. Try again, or use another way.',
  InvalidStateError: 'This device has a passkey for your account already.',
};

const canUse =
  typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === 'function' &&
  typeof globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON === 'function';

if (canUse) document.querySelectorAll('[data-passkey]').forEach(setUp);

/** Shows a form, and asks the authenticator when it is sent. */
function setUp(part) {
  const form = part.querySelector('form');
  const told = part.querySelector('[aria-live]');
  const elsewhere = part.querySelector('[data-elsewhere]');
  part.hidden = false;
  if (location.origin !== part.dataset.origin) {
    // An authenticator would refuse: its keys belong to the other address.
    elsewhere.querySelector('a').href = part.dataset.origin + location.pathname + location.search;
    elsewhere.hidden = false;
    form.hidden = true;
    return;
  }
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    told.textContent = '';
    const button = form.querySelector('button');
    button.disabled = true;
    try {
      form.elements.credential.value = JSON.stringify(await ask(part.dataset.passkey));
      // Sends the form without coming here again.
      form.submit();
    } catch (error) {
      told.textContent = WORDS[error.name] ?? (error instanceof Refused ? CANNOT_ASK : `${error.message}`);
      button.disabled = false;
      button.focus();
    }
  });
}

class Refused extends Error {}

/** @returns what the authenticator says, ready for JSON */
async function ask(purpose) {
  const answer = await fetch(`/passkeys/options?for=${purpose}`, { redirect: 'error' }).catch(
    () => undefined,
  );
  if (!answer?.ok) throw new Refused();
  const options = await answer.json();
  if (purpose === 'add') {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey })).toJSON();
}
