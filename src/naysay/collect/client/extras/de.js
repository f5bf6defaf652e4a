// What is seldom read, in German; keys as in en.js.

export default {
  promises: {
    device: "Bei privaten Fragen entscheidet der Zufall: auf diesem Gerät, oder durch Ihre eigene Hand, wo die Frage das sagt. Nur das Ergebnis wird gesendet. Es kann Ihre wahre Antwort sein. Jede Frage sagt, wie viel es verrät.",
    confirm: "Keine Ihrer Antworten wird gesendet, bevor Sie es gesehen und bestätigt haben.",
    shown: "Gesendet wird genau das, was Ihnen gezeigt wird, Byte für Byte.",
    once: "Der Zufall zieht nur einmal für jede Antwort und jede Stufe des Reglers. Wenn Sie zurückgehen, neu laden oder es sich anders überlegen, zieht er nicht noch einmal. An einem neuen Tag, oder wenn der Server neu gestartet wurde, zieht er neu, was nicht gesendet ist.",
    kept: "Dieses Gerät speichert Ihre privaten Antworten nie. Was der Zufall für sie zieht, liegt hier verschlossen, bis Sie senden, danach Ihre Quittung. Der Server vergisst den Schlüssel binnen 26 Stunden. Dann kann es niemand mehr lesen.",
    size: "Die Antworten aller werden in gleich langen Nachrichten gesendet, damit die Größe nichts verrät.",
    plain: "Fragen mit dem Zeichen „Unverändert gesendet“ werden genau so gesendet, wie Sie sie beantworten.",
    others: "Es gibt keine Cookies, und nichts kommt von anderen Websites.",
  },

  together: {
    title: "Alle privaten Antworten zusammen",
    odds: "Aus einer Antwort allein steigen die Chancen einer Möglichkeit für jemanden, der nichts wusste, höchstens auf das {odds}-Fache. Wer mehr wusste, kann mehr erfahren.",
    adds: "Antworten summieren sich. Zusammen können sie mehr verraten als jede allein.",
    bits: "Zusammen verraten sie höchstens {bits} Bit.",
  },

  fingerprint: {
    title: "Fingerabdruck dieser Umfrage",
    why: "Er steht für alle Fragen und für den Code dieser Seite. Wer dasselbe gefragt wird, hat denselben. Er steht später auf Ihrer Quittung.",
  },

  check: {
    right: "Das stimmt.",
    wrong: "Nicht ganz. Richtig ist {answer}.",
  },

  beside: {
    second: "Die zweite Frage:",
    crosswise: "Beantworten Sie beide im Kopf und tippen Sie nur an, ob die zwei Antworten gleich sind.",
    triangular: "Beantworten Sie beide im Kopf und tippen Sie nur an, ob mindestens eine Antwort Ja ist.",
    coin: "Werfen Sie eine Münze. Kopf: Beantworten Sie die obere Frage. Zahl: Beantworten Sie die untere.",
    die: "Würfeln Sie. {above}: Beantworten Sie die obere Frage. {below}: Beantworten Sie die untere.",
    neither: "{neither} zeigt, dass Ihre Antwort Nein ist.",
    knows: "Ihre Antwort auf die zweite Frage verdeckt die erste. Wer sie kennt, kann vielleicht auf die erste schließen.",
    same: "Gesendet wird nur, ob Ihre zwei Antworten gleich sind.",
    why: "Danach allein könnte jede Antwort Ihre sein.",
  },

  byHand: {
    safe: "Private Antworten verbergen Sie selbst: Dieses Gerät erfährt die wahren nie.",
  },

  reveals: {
    does: "Auf dieser Stufe kann das Gesendete Ihre wahre Antwort zeigen.",
    level: "Kann Ihre Antwort zeigen",
    leaves: "Das verrät Ihre Antwort.",
  },

  preview: {
    mark: "Das ist eine Vorschau zum Ausprobieren. Sie sendet nichts.",
    sent: "Das ist eine Vorschau: Nichts wurde gesendet.",
    anew: "Von vorn beginnen",
  },

  among: {
    level: "{share} von 100 nennen auch Ihre",
    how: "Denken Sie an 100 Menschen, die alle {own} wählen. Bei etwa {count} von ihnen nennt das Gesendete {own} neben anderen, bei den übrigen {rest} nicht.",
  },

  compares: {
    does: "Dieses Gerät zieht per Zufall Ja oder Nein. Es sendet nur, ob Ihre Antwort damit übereinstimmt.",
    sent: "Gesendet wird der Vergleich mit einem zufälligen Ja oder Nein: {words}",
    leaves: "Ihre Antwort selbst bleibt hier. Sicher weiß sie niemand.",
  },

  loud: {
    does: "Der Zufall kann Ihre Antwort auf diesem Gerät ändern. Trotzdem verrät das Gesendete viel über sie.",
    level: "Verrät viel über Sie",
    leaves: "Das verrät viel über Ihre Antwort.",
    how: "Das verrät viel über Ihre Antwort: Die Chancen einer Möglichkeit können auf das {odds}-Fache steigen.",
  },

  refuses: {
    insecure: "Diese Seite kam über eine unsichere Verbindung und fragt deshalb nichts. Bitte öffnen Sie stattdessen diese Adresse:",
    old: "Diesem Browser fehlt, was die Seite zum Ziehen per Zufall braucht. Bitte verwenden Sie einen neueren.",
    closed: "Sie ist geschlossen und nimmt keine Antworten mehr an.",
    broken: "Diese Seite stellt die Fragen dieser Umfrage nicht. Die Umfrage widerspricht sich oder könnte private Antworten verraten.",
    stranger: "Der Server hat mit dieser Seite etwas geladen, das mitlesen könnte. Deshalb fragt sie nichts.",
    held: "Eine andere Seite hat diese geöffnet oder zeigt sie in sich und könnte mitlesen. Bitte schließen Sie beide und öffnen Sie diese Adresse für sich:",
  },
};
