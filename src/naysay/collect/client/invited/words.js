// What the page says of invitations, in each language. Each entry of `promises` is kept by a test (docs/invitations.md).

export const WORDS = {
  en: {
    once: "Your invitation is for one answer. Start turns it into a ticket without a name: nothing that is stored tells whose ticket an answer came with.",
    wait: "A clock could still tell. Someone who watches the server sees when a ticket is fetched and when an answer comes. Does that worry you? Then leave this page open, and confirm some hours later.",
    needed: "This survey is by invitation. Please open the link that you were sent.",
    uninvited: "This invitation is not known, or was replaced by a newer one. Please open the link that you were sent, or ask for a new one.",
    used: "This invitation was used in another browser or on another device already. Please go on there, or ask for a new one.",
    closed: "This survey is closed and takes no more answers.",
    offline: "The server cannot be reached right now. Nothing is lost. Please try again.",
    unproved: "This server did not sign your ticket with the key that the survey publishes. It could know you by that. Please do not answer here, and tell those who invited you.",
  },
  de: {
    once: "Ihre Einladung gilt für eine Antwort. „Los geht es“ tauscht sie gegen eine Karte ohne Namen: Nichts, was gespeichert wird, verrät, mit wessen Karte eine Antwort kam.",
    wait: "Nur die Uhr könnte noch etwas verraten. Wer den Server beobachtet, sieht, wann eine Karte geholt wird und wann eine Antwort kommt. Stört Sie das? Dann lassen Sie diese Seite offen und bestätigen Sie einige Stunden später.",
    needed: "An dieser Umfrage nimmt teil, wer eingeladen ist. Bitte öffnen Sie den Link, den Sie bekommen haben.",
    uninvited: "Diese Einladung ist nicht bekannt oder wurde durch eine neuere ersetzt. Bitte öffnen Sie den Link, den Sie bekommen haben, oder bitten Sie um einen neuen.",
    used: "Diese Einladung wurde schon in einem anderen Browser oder auf einem anderen Gerät benutzt. Bitte machen Sie dort weiter, oder bitten Sie um eine neue.",
    closed: "Diese Umfrage ist beendet und nimmt keine Antworten mehr an.",
    offline: "Der Server ist gerade nicht zu erreichen. Nichts ist verloren. Bitte versuchen Sie es noch einmal.",
    unproved: "Dieser Server hat Ihre Karte nicht mit dem Schlüssel unterschrieben, den die Umfrage nennt. Daran könnte er Sie erkennen. Bitte antworten Sie hier nicht, und sagen Sie es denen, die Sie eingeladen haben.",
  },
  es: {
    once: "Su invitación vale para una respuesta. «Empezar» la cambia por un billete sin nombre: nada de lo que se guarda dice con el billete de quién llegó una respuesta.",
    wait: "Solo el reloj podría decir algo. Quien observa el servidor ve cuándo se recoge un billete y cuándo llega una respuesta. ¿Le preocupa? Entonces deje esta página abierta y confirme unas horas más tarde.",
    needed: "Esta encuesta es por invitación. Abra el enlace que recibió.",
    uninvited: "Esta invitación no se conoce, o fue sustituida por otra más reciente. Abra el enlace que recibió, o pida uno nuevo.",
    used: "Esta invitación ya se usó en otro navegador o en otro dispositivo. Siga allí, o pida una nueva.",
    closed: "Esta encuesta está cerrada y no admite más respuestas.",
    offline: "Ahora no se puede llegar al servidor. No se ha perdido nada. Inténtelo de nuevo.",
    unproved: "Este servidor no firmó su billete con la clave que publica la encuesta. Por eso podría reconocerle. No responda aquí, y avise a quienes le invitaron.",
  },
  ar: {
    once: "دعوتك صالحة لإجابة واحدة. زر «ابدأ» يبدّلها بتذكرة بلا اسم: لا شيء مما يُحفظ يدل على صاحب التذكرة التي جاءت معها الإجابة.",
    wait: "قد يدل الوقت وحده على شيء. من يراقب الخادم يرى متى تُؤخذ تذكرة ومتى تصل إجابة. هل يقلقك هذا؟ إذن اترك هذه الصفحة مفتوحة، وأكّد بعد بضع ساعات.",
    needed: "هذا الاستطلاع بالدعوة. يرجى فتح الرابط الذي أُرسل إليك.",
    uninvited: "هذه الدعوة غير معروفة، أو حلّت محلها دعوة أحدث. يرجى فتح الرابط الذي أُرسل إليك، أو طلب رابط جديد.",
    used: "استُعملت هذه الدعوة من قبل في متصفح آخر أو على جهاز آخر. يرجى المتابعة هناك، أو طلب دعوة جديدة.",
    closed: "هذا الاستطلاع مغلق ولا يقبل إجابات أخرى.",
    offline: "لا يمكن الوصول إلى الخادم الآن. لم يضع شيء. يرجى المحاولة مرة أخرى.",
    unproved: "لم يوقّع هذا الخادم تذكرتك بالمفتاح الذي ينشره الاستطلاع. وقد يعرفك بذلك. يرجى ألا تجيب هنا، وأن تخبر من دعاك.",
  },
};
